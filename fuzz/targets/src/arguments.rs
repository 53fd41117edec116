//! A method's arguments, as the command line takes them and as callers of the HTTP doors send them.

use bridge_catalogue::{Kind, Method, arguments as parse, catalogue, parse_target};
use serde_json::{Map, Value};

/// The first byte names a method. The rest is a JSON object of parameters, or else arguments, one a line.
pub fn arguments(data: &[u8]) {
    let Some((which, rest)) = data.split_first() else { return };
    let methods = catalogue().methods();
    let method = &methods[usize::from(*which) % methods.len()];
    if let Ok(params) = serde_json::from_slice::<Map<String, Value>>(rest) {
        check(method, &params);
    }
    let text = String::from_utf8_lossy(rest);
    let args: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let mut asked = 0;
    let done = parse(method, &args, &mut |_| {
        asked += 1;
        Ok("from stdin".to_owned())
    });
    if let Ok(params) = done {
        assert!(asked <= args.len());
        assert_eq!(method.check(&params), Ok(()), "what the command line takes, the doors take");
        assert!(params.keys().all(|name| method.parameter(name).is_some()), "{params:?}");
        check(method, &params);
    }
    if let Ok(target) = parse_target(&text) {
        assert!(target.is_object(), "{target}");
    }
}

/// What passes has every parameter that must be there, of its kind and within its bounds, and JSON carries it unchanged.
fn check(method: &Method, params: &Map<String, Value>) {
    if method.check(params).is_err() {
        return;
    }
    let by_selector = params.get("selector").is_some_and(Value::is_string);
    for parameter in method.parameters() {
        let schema = catalogue().resolve(parameter.schema);
        let Some(value) = params.get(parameter.name).filter(|value| !value.is_null()) else {
            assert!(!parameter.required || (parameter.name == "target" && by_selector), "{}", parameter.name);
            continue;
        };
        if schema.kind == Some(Kind::Integer) {
            let number = value.as_f64().unwrap();
            assert!(number.is_finite() && number.fract() == 0.0, "{value}");
            let within =
                number >= schema.minimum.unwrap_or(f64::MIN) && number <= schema.maximum.unwrap_or(f64::MAX);
            assert!(schema.clamp || within, "{} is {value}", parameter.name);
        }
    }
    let written = serde_json::to_string(params).unwrap();
    assert_eq!(serde_json::from_str::<Map<String, Value>>(&written).unwrap().len(), params.len());
}
