//! The table keeps its own promises.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

use bridge_catalogue::{Schema, catalogue};
use serde_json::{Map, Value};

#[test]
fn every_method_has_a_group_a_line_and_known_positionals() {
    let groups: Vec<_> = catalogue().groups().map(|(name, _)| name).collect();
    for method in catalogue().methods() {
        assert!(groups.contains(&method.group.as_str()), "{}: group {}", method.name, method.group);
        assert!(
            method.about.len() <= 120 && method.about.ends_with('.'),
            "{}: {}",
            method.name,
            method.about
        );
        for name in &method.cli.positional {
            assert!(method.parameter(name).is_some(), "{}: positional {name}", method.name);
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(schema: &Schema) {
        let resolved = catalogue().resolve(schema);
        assert!(resolved.reference.is_none(), "{:?}", schema.reference);
        schema.properties.iter().for_each(|(_, s)| walk(s));
        schema.items.iter().for_each(|s| walk(s));
        schema.one_of.iter().for_each(walk);
    }
    for method in catalogue().methods() {
        method.parameters().for_each(|p| walk(p.schema));
        walk(&method.result);
    }
    catalogue().defs().for_each(|(_, s)| walk(s));
}

#[test]
fn every_example_passes_its_own_check() {
    for method in catalogue().methods() {
        let params: Map<String, Value> = serde_json::from_str(method.example.params.get()).unwrap();
        assert_eq!(method.check(&params), Ok(()), "{}", method.name);
        let result: Map<String, Value> = serde_json::from_str(method.example.result.get()).unwrap();
        for name in &method.result.required {
            assert!(result.contains_key(name), "{}: result.{name}", method.name);
        }
    }
}

#[test]
fn every_example_line_means_its_parameters() {
    for method in catalogue().methods() {
        let line = method.example.cli.strip_prefix("bridge ").unwrap();
        let mut words = line.split(' ').map(|word| word.trim_matches('\'').to_owned());
        assert_eq!(words.next(), Some(method.command()));
        // `-o` and `--tab` belong to the program, not to the method.
        let words: Vec<String> = words.take_while(|word| word != "-o").collect();
        let mut typed = bridge_catalogue::arguments(method, &words, &mut |_| Err("no input".into())).unwrap();
        let mut params: Map<String, Value> = serde_json::from_str(method.example.params.get()).unwrap();
        if !method.cli.positional.iter().any(|p| p == "tab_id") {
            params.remove("tab_id");
        }
        typed.retain(|name, _| params.contains_key(name));
        params.retain(|name, _| typed.contains_key(name) || name != "format");
        assert_eq!(typed, params, "{}", method.name);
    }
}

#[test]
fn help_fits_on_a_screen() {
    for method in catalogue().methods() {
        let help = method.help();
        assert!(help.lines().count() <= 40, "{}: {} lines", method.name, help.lines().count());
        assert!(help.contains("Example: bridge "), "{}", method.name);
    }
    // A flag that switches off says what is then done, and each word that a parameter takes is there.
    for (method, said) in [
        ("close_session", "--no-close-tabs Leave its tabs open"),
        ("check", "--no-checked Untick it."),
        ("batch", "--no-stop-on-error Go on with"),
        ("network", "What to do. (start, get, stop, clear)"),
        ("wait_for", "true means load. (domcontentloaded, load, network_idle)"),
        ("handle_dialog", "bridge handle-dialog --accept|--no-accept"),
    ] {
        let help = catalogue().method(method).unwrap().help();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(said), "{help}");
    }
    for method in catalogue().methods() {
        for parameter in method.parameters().filter(|p| p.schema.default == Some(true.into())) {
            assert!(method.cli.off.iter().any(|(name, _)| name == parameter.name), "{}", method.name);
        }
        assert!(method.cli.off.iter().all(|(name, _)| method.parameter(name).is_some()), "{}", method.name);
    }
    for method in catalogue().methods() {
        assert!(catalogue().overview().contains(&method.command()));
    }
}

#[test]
fn the_methods_of_the_base_protocol_are_all_there() {
    let named = "ping list_tabs close_tab close_auto_tabs close_agent_window new_tab activate_tab navigate click click_at \
                 press_key run_script scrape scroll set_value check select_option clear get_value get_page_content \
                 get_page_markdown get_a11y_tree screenshot";
    for name in named.split_whitespace() {
        assert_eq!(catalogue().method(name).map(|m| m.seed), Some(1), "{name}");
    }
}
