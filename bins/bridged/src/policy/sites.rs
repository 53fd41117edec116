//! The user's lists of sites: where a call may lead a tab, as far as its address says. The page that comes of it is judged by the
//! extension, and so are hosts that only a browser can read.

use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use crate::address::{Address, Host, Site};
use crate::trouble::{Outcome, Trouble};

/// The longest list.
const MOST: usize = 256;

/// One list, each pattern once, in the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub(crate) struct Sites(Vec<Pattern>);

impl TryFrom<Vec<String>> for Sites {
    type Error = Trouble;

    fn try_from(written: Vec<String>) -> Outcome<Sites> {
        let mut sites = Sites::default();
        written.iter().try_for_each(|one| sites.add(one))?;
        Ok(sites)
    }
}

impl From<Sites> for Vec<String> {
    fn from(sites: Sites) -> Vec<String> {
        sites.0.iter().map(|pattern| pattern.text().to_owned()).collect()
    }
}

impl Sites {
    /// Replaces the list, or edits it where every entry begins with `+` or `-`.
    pub(crate) fn change(&self, list: &str, written: &[String]) -> Outcome<Sites> {
        let edits = written.iter().filter(|one| one.starts_with(['+', '-'])).count();
        if edits == 0 {
            return Sites::try_from(written.to_vec());
        }
        if edits < written.len() {
            return Err(Trouble::usage(format!(
                "{list}: either a whole list, or each site with + or - before it"
            )));
        }
        let mut sites = self.clone();
        for one in written {
            match one.strip_prefix('+') {
                Some(added) => sites.add(added)?,
                None => sites.remove(list, one.get(1..).unwrap_or_default())?,
            }
        }
        Ok(sites)
    }

    fn add(&mut self, written: &str) -> Outcome<()> {
        let pattern = Pattern::read(written)?;
        if self.0.contains(&pattern) {
            return Ok(());
        }
        if self.0.len() >= MOST {
            return Err(Trouble::usage(format!(
                "a list has {MOST} sites at most; `*.example.com` stands for all beneath it"
            )));
        }
        self.0.push(pattern);
        Ok(())
    }

    fn remove(&mut self, list: &str, written: &str) -> Outcome<()> {
        let pattern = Pattern::read(written)?;
        let at = self.0.iter().position(|known| *known == pattern);
        let at = at.ok_or_else(|| Trouble::usage(format!("{} is not on the {list} list", pattern.text())))?;
        self.0.remove(at);
        Ok(())
    }

    /// Whether there is nothing on it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn cover(&self, site: &Site) -> bool {
        self.0.iter().any(|pattern| pattern.covers(site))
    }

    /// Whether a host that is written in ASCII may be one of the list all the same.
    fn may_cover(&self, site: &Site) -> bool {
        let coded =
            matches!(&site.host, Host::Name(name) if name.split('.').any(|label| label.starts_with("xn--")));
        self.cover(site) || coded && self.0.iter().any(Pattern::is_foreign)
    }
}

/// Why no tab may be led to this address, if it may not. Deny beats allow; an empty list says nothing.
pub(crate) fn refusal(allow: &Sites, deny: &Sites, url: &str) -> Option<String> {
    const WAY: &str = "the user sees and changes that by `bridged policy show` and `bridged policy set`";
    if allow.is_empty() && deny.is_empty() {
        return None;
    }
    let address = Address::read(url);
    if let Some(site) = address.site().filter(|site| deny.cover(site)) {
        return Some(format!("forbidden: domain {} is on the user's deny list; {WAY}", site.host));
    }
    if allow.is_empty() {
        return None;
    }
    match address {
        Address::Web(site) if !allow.may_cover(&site) => {
            Some(format!("forbidden: domain {} is not on the user's allow list; {WAY}", site.host))
        }
        // An empty page is where a tab begins.
        Address::Other { scheme, .. } if scheme != "about" => Some(format!(
            "forbidden: domain: {scheme}: addresses are of no site on the user's allow list; {WAY}"
        )),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;

    fn list(written: &[&str]) -> Sites {
        Sites::try_from(written.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    fn changed(before: &[&str], written: &[&str]) -> Result<Vec<String>, String> {
        let written: Vec<String> = written.iter().map(|one| (*one).to_owned()).collect();
        list(before).change("deny", &written).map(Vec::from).map_err(|e| e.to_string())
    }

    #[test]
    fn a_list_is_replaced_or_edited_and_never_half() {
        let two = ["a.example", "b.example"];
        assert_eq!(changed(&two, &["C.example", "c.example."]).unwrap(), ["c.example"]);
        assert_eq!(changed(&two, &[]).unwrap(), [""; 0]);
        assert_eq!(
            changed(&two, &["+c.example", "+a.example", "-B.example"]).unwrap(),
            ["a.example", "c.example"]
        );
        assert!(changed(&two, &["+c.example", "d.example"]).unwrap_err().contains("either a whole list"));
        assert!(changed(&two, &["-c.example"]).unwrap_err().contains("c.example is not on the deny list"));
        assert!(changed(&two, &["+c.example/x"]).unwrap_err().contains("without a path"));
        assert!(changed(&two, &["-"]).unwrap_err().contains("expected a host"));
    }

    #[test]
    fn a_list_is_bounded_however_it_comes() {
        let many: Vec<String> = (0..=MOST).map(|n| format!("s{n}.example")).collect();
        assert!(Sites::try_from(many[..MOST].to_vec()).is_ok());
        assert!(Sites::try_from(many.clone()).unwrap_err().to_string().contains("256 sites at most"));
        let text = serde_json::to_string(&many).unwrap();
        assert!(serde_json::from_str::<Sites>(&text).unwrap_err().to_string().contains("256 sites at most"));
        assert!(serde_json::from_str::<Sites>(r#"["a.example/x"]"#).is_err());
        assert_eq!(serde_json::to_string(&list(&["A.example."])).unwrap(), r#"["a.example"]"#);
    }

    #[test]
    fn deny_beats_allow_and_an_empty_list_says_nothing() {
        let none = Sites::default();
        let said = |allow: &[&str], deny: &[&str], url: &str| {
            refusal(&list(allow), &list(deny), url).unwrap_or_default()
        };
        assert_eq!(refusal(&none, &none, "https://a.example"), None);
        assert!(
            said(&[], &["a.example"], "https://A.example.")
                .starts_with("forbidden: domain a.example is on the user's deny list")
        );
        assert_eq!(said(&[], &["a.example"], "https://b.example"), "");
        assert!(said(&["*.a.example"], &["x.a.example"], "https://x.a.example").contains("deny list"));
        assert_eq!(said(&["*.a.example"], &["x.a.example"], "https://y.a.example"), "");
        assert!(
            said(&["a.example"], &[], "http://127.0.0.1:3000")
                .contains("domain 127.0.0.1 is not on the user's allow list")
        );
        assert!(said(&["a.example"], &[], "data:text/html,x").contains("data: addresses"));
        assert!(said(&["a.example"], &[], "x:y@a.example").contains("x: addresses"));
        assert!(said(&[], &["a.example"], "x:y@a.example").contains("deny list"));
        assert_eq!(said(&["a.example"], &[], "about:blank"), "");
        assert!(said(&["a.example"], &[], "https://b.example").contains("bridged policy show"));
    }

    #[test]
    fn what_only_a_browser_can_read_is_left_to_it() {
        let said = |allow: &[&str], url: &str| refusal(&list(allow), &Sites::default(), url);
        assert_eq!(said(&["a.example"], "https://bücher.example"), None);
        assert_eq!(said(&["bücher.example"], "https://xn--bcher-kva.example"), None);
        assert!(said(&["bücher.example"], "https://b.example").is_some());
        assert!(said(&["a.example"], "https://xn--bcher-kva.example").is_some());
    }
}
