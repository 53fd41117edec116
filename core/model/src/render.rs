//! Operations as the bytes that cross the wire.

use std::ops::Range;
use std::sync::OnceLock;

use bridge_core::Limits;
use serde_json::json;

use crate::op::{Ask, Form, Hello, HelloRole, Params, Shows, Word};
use crate::proof::encode;

/// The raw `id` members that requests use: three ordinary ones, some that must be kept byte for byte, and bad ones.
pub fn ids(limits: &Limits) -> [String; 12] {
    let text = |s: &str| format!("\"{s}\"");
    let longest = usize::from(limits.id_bytes);
    [
        text("a"),
        text("b"),
        text("c"),
        text("\\u0061"),
        text("\\u0000\\n\\\"}"),
        text("日本\u{202e}"),
        text(&"x".repeat(longest)),
        text(&"x".repeat(longest + 1)),
        text(""),
        "7".into(),
        "null".into(),
        "{\"id\":\"a\"}".into(),
    ]
}

/// The raw `method` members that requests use.
pub fn methods() -> &'static [String] {
    static METHODS: OnceLock<Vec<String>> = OnceLock::new();
    METHODS.get_or_init(all_methods)
}

fn all_methods() -> Vec<String> {
    let names = ["click", "navigate", "ping", "list_browsers", "status", "policy_get", "shutdown", "watch"];
    let mut all: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    all.extend(["\"\"", "\"no good\"", "\"cl\\u0069ck\"", "7", "\"p\\u0069ng\""].map(String::from));
    all.push(format!("\"{}\"", "m".repeat(64)));
    all.push(format!("\"{}\"", "m".repeat(65)));
    all
}

/// The `browser_id`s that hellos and requests use; 0 means none.
pub fn browser(n: u8) -> Option<&'static str> {
    [None, Some("b-1"), Some("b-2"), Some("b-3"), Some("b-éé"), Some("b \"4\\")][usize::from(n % 6)]
}

/// The `client_id`s that hellos use; 0 means none.
pub fn client(n: u8) -> Option<String> {
    match n % 10 {
        0 => None,
        1 => Some("me".into()),
        2 => Some("mcp-77".into()),
        3 => Some("c7-abcdefgh".into()),
        4 => Some("c-http-1".into()),
        5 => Some("é".repeat(32)),
        6 => Some("x".repeat(65)),
        7 => Some("line\nend".into()),
        8 => Some("\"".repeat(64)),
        _ => Some(String::new()),
    }
}

/// The `once` members that requests use; 0 means none.
fn once(n: u8) -> Option<String> {
    match n % 8 {
        0..=3 => None,
        4 => Some("\"tr-y_1\"".into()),
        5 => Some(format!("\"{}\"", "o".repeat(64))),
        6 => Some(format!("\"{}\"", "o".repeat(65))),
        _ => Some("\"no good\"".into()),
    }
}

/// A request's bytes.
pub fn ask(ask: &Ask, limits: &Limits) -> Vec<u8> {
    let (ids, methods) = (ids(limits), methods());
    let mut members = vec![
        ("id", ids[usize::from(ask.id) % ids.len()].clone()),
        ("method", methods[usize::from(ask.method) % methods.len()].clone()),
    ];
    members.extend(params(ask.params, limits.depth).map(|raw| ("params", raw)));
    members.extend(ask.timeout.map(|raw| ("timeout_ms", timeout(raw))));
    members.extend(once(ask.once).map(|raw| ("once", raw)));
    if ask.lies {
        members.push(("client_id", "\"somebody else\"".into()));
        members.push(("class", "\"person\"".into()));
        members.push(("x", "[{\"id\":1,\"id\":2},\"}\",1e999]".into()));
    }
    let turn = usize::from(ask.order) % members.len();
    members.rotate_left(turn);
    object(&members, ask.spaced)
}

/// `timeout_ms` as raw JSON: mostly sensible, sometimes not.
fn timeout(n: u16) -> String {
    match n % 16 {
        0 => "0".into(),
        1 => "1".into(),
        2 => "600000".into(),
        3 => "600001".into(),
        4 => "-1".into(),
        5 => "1.5".into(),
        6 => "\"1000\"".into(),
        7 => "1e3".into(),
        8 => "18446744073709551616".into(),
        9 => "null".into(),
        _ => (10 + u32::from(n) * 7 % 90_000).to_string(),
    }
}

fn params(params: Params, depth: u16) -> Option<String> {
    Some(match params {
        Params::Missing => return None,
        Params::Empty => "{}".into(),
        Params::Some => {
            "{ \"url\" : \"https://é.example/?q=\\\"}\", \"n\":[1,-2.5e3,{\"id\":\"x\"}]\n}".into()
        }
        Params::Browser(n) => match browser(n) {
            Some(id) => json!({"browser_id": id, "tab_id": 7}).to_string(),
            None => "{\"browser_id\":null}".into(),
        },
        Params::BadBrowser => "{\"browser_id\":7}".into(),
        Params::Array => "[1]".into(),
        Params::Null => "null".into(),
        Params::Doubled => "{\"url\":\"a\",\"url\":\"b\"}".into(),
        Params::Escaped => "{\"u\\u0072l\":\"a\"}".into(),
        // The frame is the first level, the params the second.
        Params::Deep(over) => {
            let levels = usize::from(depth - 2) + usize::from(over);
            format!("{{\"d\":{}{}}}", "[".repeat(levels), "]".repeat(levels))
        }
    })
}

/// An object's bytes from raw members.
pub fn object(members: &[(&str, String)], spaced: bool) -> Vec<u8> {
    let (colon, comma, edge) = if spaced { ("\t: ", "\r\n, ", " \n") } else { (":", ",", "") };
    let inside: Vec<String> = members.iter().map(|(key, raw)| format!("\"{key}\"{colon}{raw}")).collect();
    format!("{edge}{{{edge}{}{edge}}}{edge}", inside.join(comma)).into_bytes()
}

/// The key ids that hellos use: a paired one and one that is not.
pub const KEY_ID: &str = "k-paired1";
/// Not paired.
pub const UNKNOWN_KEY_ID: &str = "k-nobody0";
/// The token that is right.
pub const TOKEN: &str = "the-right-token";

/// A role's name.
pub fn role(role: HelloRole) -> &'static str {
    match role {
        HelloRole::Extension => "extension",
        HelloRole::Client => "client",
        HelloRole::Control => "control",
        HelloRole::Unknown => "admin",
        HelloRole::Missing => "",
    }
}

/// A hello's bytes. `resume` is what an earlier client was given.
pub fn hello(hello: &Hello, nonce: &[u8; 32], resume: Option<&str>) -> Vec<u8> {
    let mut it = json!({"type": "hello", "name": if hello.odd_name { "a\u{1b}[31m\u{202e}\n".repeat(9) } else { "test".into() }});
    let mut put = |key: &str, value: serde_json::Value| it[key] = value;
    if hello.role != HelloRole::Missing {
        put("role", role(hello.role).into());
    }
    if hello.two {
        put("protocol", 2.into());
    }
    if let Some(id) = browser(hello.browser) {
        put("browser_id", id.into());
    }
    if let Some(id) = client(hello.client) {
        put("client_id", id.into());
    }
    match hello.class % 4 {
        1 => put("class", "person".into()),
        2 => put("class", "agent".into()),
        _ => {}
    }
    match hello.shows {
        Shows::Nothing => {}
        Shows::Key | Shows::OldNonce => {
            put("key_id", KEY_ID.into());
            put("nonce", encode(nonce).into());
        }
        Shows::UnknownKey => {
            put("key_id", UNKNOWN_KEY_ID.into());
            put("nonce", encode(nonce).into());
        }
        Shows::BadNonce => {
            put("key_id", KEY_ID.into());
            put("nonce", encode(&nonce[1..]).into());
        }
        Shows::Token => put("token", TOKEN.into()),
        Shows::WrongToken => put("token", "the-wrong-token".into()),
        Shows::Resume(_, right) => {
            let value = resume.unwrap_or("nothing");
            put("resume", if right { value.into() } else { format!("{value}x").into() });
        }
    }
    if hello.role == HelloRole::Extension && hello.two {
        put("version", "1.2.3".into());
        put("build", "dev".into());
        put("methods", json!(["click", "navigate"]));
    }
    it.to_string().into_bytes()
}

/// The bytes of an answer with this id.
pub fn answer(form: Form, id: &str, limits: &Limits) -> Vec<u8> {
    let long = "x".repeat(limits.prefix_bytes);
    let levels = usize::from(limits.depth) + 2;
    let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    match form {
        Form::Result => format!(r#"{{"id":"{id}","success":true,"result":{{"id":"no","é":[1,"}}"]}}}}"#),
        Form::IdLast => format!(r#"{{"success":true,"result":{{"id":"no"}},"id":"{id}"}}"#),
        Form::Error => format!(r#"{{"id":"{id}","success":false,"error":"no","code":"TAB_NOT_FOUND"}}"#),
        Form::Long => format!(r#"{{"id":"{id}","success":true,"result":{{"data":"{long}"}}}}"#),
        Form::LongIdLast => format!(r#"{{"success":true,"result":{{"data":"{long}"}},"id":"{id}"}}"#),
        Form::LongBroken => format!(r#"{{"id":"{id}","success":true,"result":{{]"data":"{long}"}}}}"#),
        Form::LongCut => format!(r#"{{"id":"{id}","success":true,"result":"{long}"#),
        Form::Mismatched => format!(r#"{{"id":"{id}","success":true,"result":[1}}}}"#),
        Form::NoSuccess => format!(r#"{{"id":"{id}","result":1}}"#),
        Form::OddSuccess => format!(r#"{{"id":"{id}","success":1,"result":1}}"#),
        Form::Both => format!(r#"{{"id":"{id}","success":true,"result":1,"error":"x"}}"#),
        Form::Neither => format!(r#"{{"id":"{id}","success":true}}"#),
        Form::Spaced => format!("\n{{ \"id\" :\t\"{id}\" ,\r\n \"success\" : true , \"result\" : null }} "),
        Form::TwoIds => format!(r#"{{"id":"{id}","success":true,"result":1,"id":"{id}"}}"#),
        Form::EscapedId => format!(r#"{{"\u0069d":"{id}","success":true,"result":1}}"#),
        Form::Broken => format!(r#"{{"id":"{id}","success":true,"result":"#),
        Form::Deep => format!(r#"{{"id":"{id}","success":true,"result":{deep}}}"#),
    }
    .into_bytes()
}

/// The bytes of an extension's own word.
pub fn word(word: Word) -> Vec<u8> {
    match word {
        Word::PolicySet => r#"{"type":"policy_set","paused":true}"#,
        Word::Event => r#"{"type":"event","event":"tab_closed","tab_id":7}"#,
        Word::Unknown => r#"{"type":"gossip"}"#,
        Word::Hello => r#"{"type":"hello","role":"client","name":"again"}"#,
    }
    .into()
}

/// Frames that once were, or might be, a way in.
pub fn nasty(n: u8, limits: &Limits) -> Vec<u8> {
    static FRAMES: OnceLock<Vec<String>> = OnceLock::new();
    let frames = FRAMES.get_or_init(all_nasty);
    let depth = usize::from(limits.depth);
    match frames[usize::from(n) % frames.len()].as_str() {
        DEEPEST => deep(depth - 1),
        TOO_DEEP => deep(depth),
        frame => frame.to_owned(),
    }
    .into_bytes()
}

/// A frame as deep as is allowed, and one that is deeper: which they are depends on the limits.
const DEEPEST: &str = "as deep as allowed";
const TOO_DEEP: &str = "one level deeper";

fn deep(levels: usize) -> String {
    format!("{{\"id\":\"d\",\"method\":\"click\",\"x\":{}{}}}", "[".repeat(levels), "]".repeat(levels))
}

fn all_nasty() -> Vec<String> {
    vec![
        r#"{"id":"v","success":true,"result":"stolen"}"#.into(),
        r#"{"id":"v","success":false,"error":"no"}"#.into(),
        r#"["a",null,null,null,null,"ping"]"#.into(),
        r#"{"\u0069d":"k","method":"ping"}"#.into(),
        r#"{"id":"a","id":"b","method":"click"}"#.into(),
        r#"{"id":"a","method":"click","method":"ping"}"#.into(),
        r#"{"id":"a","method":"click","client_id":"x","client_id":"y"}"#.into(),
        r#"{"id":"a","method":"click","client\u005fid":"y"}"#.into(),
        r#"{"id":"\ud800","method":"click"}"#.into(),
        r#"{"id":"a","method":"click","params":{"x":"\udc00"}}"#.into(),
        r#"{"id":"a","method":"click","params":{"x":01}}"#.into(),
        r#"{"id":"a","method":"click","params":{}}x"#.into(),
        r#"{"id":"a","method":"click"}{"id":"b","method":"click"}"#.into(),
        "\u{feff}{\"id\":\"a\",\"method\":\"click\"}".into(),
        "".into(),
        " ".into(),
        "null".into(),
        "1".into(),
        "{}".into(),
        r#"{"id":"a"}"#.into(),
        r#"{"method":"click"}"#.into(),
        r#"{"type":"hello","role":"client","name":"again"}"#.into(),
        r#"{"type":"cancel"}"#.into(),
        r#"{"type":"cancel","id":7}"#.into(),
        r#"{"type":"pair_confirm","challenge":"x","signature":"y"}"#.into(),
        r#"{"type":"hello_ack","protocol":2}"#.into(),
        r#"{"type":"policy","policy":{}}"#.into(),
        r#"{"type":"event"}"#.into(),
        r#"{"id":"p","method":"ping","params":[1]}"#.into(),
        DEEPEST.into(),
        TOO_DEEP.into(),
        deep(100_000),
        format!(
            "{{{}\"id\":\"a\",\"method\":\"click\"}}",
            (0..70).map(|n| format!("\"k{n}\":1,")).collect::<String>()
        ),
        format!(
            "{{\"id\":\"a\",\"method\":\"click\",\"params\":{{{}\"z\":1}}}}",
            (0..64).map(|n| format!("\"k{n}\":1,")).collect::<String>()
        ),
        "{\"id\":\"a\",\"method\":\"click\",\"params\":{\"x\":\"\u{1}\"}}".into(),
        format!("{{\"id\":\"a\",\"method\":\"click\",\"params\":{{\"x\":\"{}\"}}}}", "y".repeat(5000)),
    ]
}

/// The second half of a proof.
pub fn confirm(challenge: &str, signature: &str) -> Vec<u8> {
    json!({"type": "pair_confirm", "challenge": challenge, "signature": signature}).to_string().into_bytes()
}

/// Where the id stands in a frame that begins exactly `{"id":"…","success":true|false,` and ends with `}`, if it is as long
/// as the hub's.
pub fn prefix_id(frame: &[u8]) -> Option<Range<usize>> {
    let rest = frame.strip_prefix(b"{\"id\":\"")?.get(12..)?;
    let rest = rest.strip_prefix(b"\",\"success\":")?;
    let exact = (rest.starts_with(b"true,") || rest.starts_with(b"false,")) && frame.ends_with(b"}");
    exact.then_some(7..19)
}
