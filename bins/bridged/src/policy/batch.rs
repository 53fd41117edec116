//! What the policy says of a batch.

use std::collections::HashMap;

use bridge_core::{Class, Code};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Rules;
use crate::permit;

/// Why a batch may not be made: each of its steps is judged like a call of its own, and with one that is forbidden none is run.
pub(super) fn refusal(rules: &Rules, own: &[u16], class: Class, params: &[u8]) -> Option<(Code, String)> {
    #[derive(Deserialize)]
    struct Batch {
        steps: Vec<Step>,
    }
    #[derive(Deserialize)]
    struct Step {
        method: String,
        params: Option<HashMap<String, Box<RawValue>>>,
    }
    // What cannot be read cannot be judged, so the browser does not get it either.
    let Ok(batch) = serde_json::from_slice::<Batch>(params) else {
        let text = "invalid params: steps must be a list of objects, each with a method and its params";
        return Some((Code::InvalidParams, text.to_owned()));
    };
    batch.steps.iter().enumerate().find_map(|(at, step)| {
        let param = |key: &str| {
            let raw = step.params.as_ref()?.get(key)?.get();
            // What an earlier step will have found is asked for, and where it leads the browser judges.
            Some(if is_reference(raw) { b"true" } else { raw.as_bytes() })
        };
        let (code, text) = permit::refusal(rules, own, &step.method, class, &param)?;
        Some((code, format!("{text} (step {at} of the batch; none was run)")))
    })
}

/// Whether a value stands for one in the result of an earlier step: `$N.path`.
fn is_reference(raw: &str) -> bool {
    let reference = |text: String| {
        let (step, path) = text.strip_prefix('$')?.split_once('.')?;
        (!step.is_empty() && step.bytes().all(|b| b.is_ascii_digit()) && !path.is_empty()).then_some(())
    };
    serde_json::from_str(raw).ok().and_then(reference).is_some()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;
    use crate::policy::sites::Sites;

    fn refused(rules: &Rules, class: Class, params: &str) -> Option<(Code, String)> {
        refusal(rules, &[9225], class, params.as_bytes())
    }

    #[test]
    fn each_step_of_a_batch_is_judged_like_a_call_of_its_own() {
        let read_only = Rules { read_only: true, ..Rules::default() };
        let batch = |step: &str| format!(r#"{{"steps":[{{"method":"list_tabs"}},{step}]}}"#);
        for step in [
            r#"{"method":"click","params":{"target":{"value":"a"}}}"#,
            r#"{"method":"run_script","params":{"code":"1"}}"#,
            // Waiting for a script runs one.
            r#"{"method":"wait_for","params":{"script":"1"}}"#,
            r#"{"method":"wait_for","params":{"scr\u0069pt":"1"}}"#,
            r#"{"params":{"url":"https://a.example"},"method":"get_page_\u006darkdown"}"#,
        ] {
            let (code, text) = refused(&read_only, Class::Person, &batch(step)).unwrap();
            assert_eq!(code, Code::PermissionDenied, "{step}");
            assert!(text.starts_with("forbidden: ") && text.contains("step 1 of the batch"), "{text}");
            assert_eq!(refused(&Rules::default(), Class::Person, &batch(step)), None, "{step}");
        }
        let reads = r#"{"method":"wait_for","params":{"text":"a","script":null}}"#;
        assert_eq!(refused(&read_only, Class::Person, &batch(reads)), None);
        let evaluate = batch(r#"{"method":"evaluate","params":{"expression":"1"}}"#);
        assert!(refused(&Rules::default(), Class::Person, &evaluate).is_some());
        let upload = batch(r#"{"method":"upload","params":{"paths":["/tmp/a"]}}"#);
        assert!(refused(&Rules::default(), Class::Agent, &upload).is_some());
        assert!(refused(&Rules::default(), Class::Person, &upload).is_none());
        let ours = batch(r#"{"method":"navigate","params":{"url":"http://127.0.0.1:9\u003225/"}}"#);
        assert!(refused(&Rules::default(), Class::Person, &ours).is_some());
    }

    #[test]
    fn a_step_leads_to_no_site_that_is_denied_and_what_another_step_finds_is_the_browsers_to_judge() {
        let deny = Sites::try_from(vec!["*.evil.example".to_owned()]).unwrap();
        let allow = Sites::try_from(vec!["good.example".to_owned()]).unwrap();
        let rules = Rules { allow, deny, read_only: false, ..Rules::default() };
        let said = |rules: &Rules, method: &str, url: &str| {
            let steps = format!(r#"{{"steps":[{{"method":"{method}","params":{{"url":"{url}"}}}}]}}"#);
            refused(rules, Class::Person, &steps).map(|(_, text)| text).unwrap_or_default()
        };
        for method in ["navigate", "new_tab", "get_page_markdown"] {
            assert!(said(&rules, method, "https://x.evil.ex\\u0061mple").contains("deny list"), "{method}");
            assert!(said(&rules, method, "https://other.example").contains("allow list"), "{method}");
            assert!(said(&rules, method, "$.evil.example").contains("deny list"), "{method}");
            assert!(said(&rules, method, "$0.").contains("allow list"), "{method}");
            assert_eq!(said(&rules, method, "$0.url"), "", "{method}");
            assert_eq!(said(&rules, method, "https://good.example"), "", "{method}");
        }
        let read_only = Rules { read_only: true, ..Rules::default() };
        assert!(said(&read_only, "get_page_markdown", "$0.url").contains("read-only"));
    }

    #[test]
    fn a_batch_that_cannot_be_judged_is_refused() {
        for params in [
            "{}",
            r#"{"steps":{}}"#,
            r#"{"steps":[1]}"#,
            r#"{"steps":[{"params":{}}]}"#,
            r#"{"steps":[{"method":"click","params":[]}]}"#,
            r#"{"steps":[],"steps":[{"method":"evaluate"}]}"#,
            r#"{"steps":[{"method":"ping","method":"evaluate"}]}"#,
        ] {
            let (code, _) = refused(&Rules::default(), Class::Person, params).unwrap();
            assert_eq!(code, Code::InvalidParams, "{params}");
        }
        assert_eq!(refused(&Rules::default(), Class::Person, r#"{"steps":[],"more":1}"#), None);
    }
}
