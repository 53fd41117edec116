//! The suite's tools, prompts and resources as a provider.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use bridge_mcp::Version;
use bridge_mcp::provider::{
    About, Answer, Body, BridgeCall, Cache, Outcome, Provider, Reply, Request, RpcError,
};
use serde_json::{Value, json};

pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// Tools without steps of their own in time.
const AT_ONCE: &[&str] = &[
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// Tools whose steps `steps.rs` takes.
const IN_STEPS: &[&str] = &[
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
];

#[derive(Clone, Debug)]
pub(crate) struct Fixture;

impl Provider for Fixture {
    type Call = ();

    fn about(&self, version: Version) -> About<'_> {
        let capabilities = if version.is_modern() {
            r#"{"tools":{},"prompts":{},"resources":{},"completions":{}}"#
        } else {
            r#"{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{}}"#
        };
        About {
            name: "bridge-mcp-fixture",
            version: env!("CARGO_PKG_VERSION"),
            capabilities,
            instructions: "",
        }
    }

    fn request(&mut self, request: &Request<'_>) -> Reply<()> {
        let params: Value = serde_json::from_str(request.params).unwrap_or_default();
        match request.method {
            "tools/list" => list("tools", tools()),
            "tools/call" => call(&params, request),
            "prompts/list" => list("prompts", prompts()),
            "prompts/get" => prompt(&params),
            "resources/list" => list("resources", resources()),
            "resources/templates/list" => list("resourceTemplates", templates()),
            "resources/read" => read(&params, request.version),
            "resources/subscribe" | "resources/unsubscribe" => Reply::Done(Body::new("")),
            "completion/complete" => {
                done(json!({"completion": {"values": [], "total": 0, "hasMore": false}}))
            }
            _ => Reply::Unknown,
        }
    }

    fn answer(&mut self, (): (), answer: Answer, _version: Version) -> Outcome<()> {
        match answer {
            Answer::Frame(members) => Outcome::Done(Body::new(String::from_utf8_lossy(&members))),
            Answer::Lost(reason) => Outcome::Fail(RpcError::new(-32603, reason)),
        }
    }

    fn saved(&mut self, (): (), _path: Result<&str, &str>, _version: Version) -> Body {
        Body::new("")
    }

    fn progress(&self, (): &()) -> String {
        "under way".to_owned()
    }
}

/// An object's members as text.
pub(crate) fn members(object: &Value) -> String {
    let text = object.to_string();
    text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default().to_owned()
}

pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn done(result: Value) -> Reply<()> {
    Reply::Done(Body::new(members(&result)))
}

fn list(name: &str, entries: Value) -> Reply<()> {
    let body = Body::new(members(&json!({ name: entries })));
    Reply::Done(body.cached(Cache { ttl_ms: 60_000, public: true }))
}

fn tools() -> Value {
    let names = AT_ONCE.iter().chain(IN_STEPS);
    let plain = names
        .map(|name| {
            let properties = match *name {
                "test_sampling" => json!({"prompt": {"type": "string"}}),
                "test_elicitation" => json!({"message": {"type": "string"}}),
                _ => json!({}),
            };
            let words = format!("The suite's {}", name.replace('_', " "));
            json!({"name": name, "description": words, "inputSchema": {"type": "object", "properties": properties}})
        });
    plain.chain([rich_schema()]).collect()
}

/// A tool that is only looked at: its schema has to arrive as it is.
fn rich_schema() -> Value {
    json!({"name": "json_schema_2020_12_tool", "description": "Tool with JSON Schema 2020-12 features", "inputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {
            "name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"}, "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    }})
}

fn call(params: &Value, request: &Request<'_>) -> Reply<()> {
    let name = params["name"].as_str().unwrap_or_default();
    if IN_STEPS.contains(&name) {
        // How far a call gets to speak depends on the revision; `steps.rs` sees it in the params.
        let mut params = params.clone();
        params["modern"] = request.version.is_modern().into();
        let call = BridgeCall { method: name.to_owned(), params: params.to_string(), timeout_ms: None };
        return Reply::Call { call, keep: () };
    }
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    match name {
        "test_simple_text" => done(text("This is a simple text response for testing.")),
        "test_image_content" => done(json!({"content": [image]})),
        "test_audio_content" => {
            done(json!({"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}))
        }
        "test_embedded_resource" => done(json!({"content": [{"type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content."
        }}]})),
        "test_multiple_content_types" => done(json!({"content": [
            {"type": "text", "text": "Multiple content types test:"}, image,
            {"type": "resource", "resource": {"uri": "test://mixed-content-resource", "mimeType": "application/json",
                "text": r#"{"test":"data","value":123}"#}}
        ]})),
        "test_error_handling" => {
            let mut result = text("This tool intentionally returns an error for testing");
            result["isError"] = true.into();
            done(result)
        }
        "test_missing_capability" => {
            let capabilities: Value = serde_json::from_str(request.capabilities).unwrap_or_default();
            if capabilities.get("sampling").is_some() {
                return done(text("the client can sample"));
            }
            let error = RpcError::new(RpcError::MISSING_CAPABILITY, "this tool needs the client's sampling");
            Reply::Fail(error.with_data(r#"{"requiredCapabilities":{"sampling":{}}}"#))
        }
        "test_streaming_elicitation" => done(text("nothing to ask")),
        name if name.starts_with("test_input_required_result_") => input(name, params, request),
        _ => Reply::Fail(RpcError::invalid_params("unknown tool")),
    }
}

/// Tools that want something of the client first, and get it with the next call.
fn input(name: &str, params: &Value, request: &Request<'_>) -> Reply<()> {
    let given = |key: &str| params["inputResponses"][key].is_object();
    let ask_name = json!({"user_name": elicit("What is your name?", "name", "string")});
    let ask_capital = json!({"capital_question": sample("What is the capital of France?")});
    let ask_roots = json!({"client_roots": {"method": "roots/list", "params": {}}});
    let confirm = json!({"confirm": elicit("Please confirm", "ok", "boolean")});
    let state = params["requestState"].as_str();
    match name.trim_start_matches("test_input_required_result_") {
        "elicitation" if given("user_name") => {
            let name = params["inputResponses"]["user_name"]["content"]["name"].as_str().unwrap_or("you");
            done(text(&format!("Hello, {name}!")))
        }
        "elicitation" => wanted(ask_name, None),
        "sampling" if given("capital_question") => {
            done(text(&params["inputResponses"]["capital_question"]["content"]["text"].to_string()))
        }
        "sampling" => wanted(ask_capital, None),
        "list_roots" if given("client_roots") => {
            done(text(&params["inputResponses"]["client_roots"].to_string()))
        }
        "list_roots" => wanted(ask_roots, None),
        "request_state" | "tampered_state" | "multi_round" | "multiple_inputs"
            if state.is_some_and(|state| !is_signed(state)) =>
        {
            Reply::Fail(RpcError::invalid_params("requestState is not ours"))
        }
        "request_state" | "tampered_state" if given("confirm") && state.is_some() => done(text("state-ok")),
        "request_state" | "tampered_state" => wanted(confirm, Some("asked")),
        "multi_round" if given("step2") && state == Some(&sign("round-2")) => {
            done(text("both steps are done"))
        }
        "multi_round" if given("step1") && state == Some(&sign("round-1")) => {
            let ask = elicit("Step 2: What is your favorite color?", "color", "string");
            wanted(json!({ "step2": ask }), Some("round-2"))
        }
        "multi_round" => {
            wanted(json!({"step1": elicit("Step 1: What is your name?", "name", "string")}), Some("round-1"))
        }
        "multiple_inputs"
            if given("user_name") && given("greeting") && given("client_roots") && state.is_some() =>
        {
            done(text("all three came"))
        }
        "multiple_inputs" => {
            let asks = json!({
                "user_name": ask_name["user_name"], "greeting": sample("Generate a greeting"),
                "client_roots": ask_roots["client_roots"]
            });
            wanted(asks, Some("asked"))
        }
        "capabilities" => {
            let can: Value = serde_json::from_str(request.capabilities).unwrap_or_default();
            let mut asks = json!({});
            if can.get("sampling").is_some() {
                asks["capital_question"] = ask_capital["capital_question"].clone();
            }
            if can.get("elicitation").is_some() {
                asks["user_name"] = ask_name["user_name"].clone();
            }
            wanted(asks, None)
        }
        _ => Reply::Fail(RpcError::invalid_params("unknown tool")),
    }
}

fn wanted(asks: Value, state: Option<&str>) -> Reply<()> {
    let mut result = json!({"resultType": "input_required", "inputRequests": asks});
    if let Some(state) = state {
        result["requestState"] = sign(state).into();
    }
    Reply::Done(Body::typed(members(&result)))
}

fn elicit(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

fn sample(prompt: &str) -> Value {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": prompt}}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}})
}

/// A state only this process can have made.
fn sign(state: &str) -> String {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    format!("{state}.{:016x}", KEY.hash_one(state))
}

fn is_signed(signed: &str) -> bool {
    signed.rsplit_once('.').is_some_and(|(state, _)| sign(state) == signed)
}

fn prompts() -> Value {
    let argument = |name: &str| json!({"name": name, "description": name, "required": true});
    json!([
        {"name": "test_simple_prompt", "description": "A prompt"},
        {"name": "test_prompt_with_arguments", "description": "A prompt with arguments",
            "arguments": [argument("arg1"), argument("arg2")]},
        {"name": "test_prompt_with_embedded_resource", "description": "A prompt with a resource",
            "arguments": [argument("resourceUri")]},
        {"name": "test_prompt_with_image", "description": "A prompt with an image"},
        {"name": "test_input_required_result_prompt", "description": "A prompt that asks first"},
    ])
}

fn prompt(params: &Value) -> Reply<()> {
    let says = |content: Value| json!({"role": "user", "content": content});
    let text = |text: &str| says(json!({"type": "text", "text": text}));
    let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default();
    let messages = match params["name"].as_str().unwrap_or_default() {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            json!([text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))])
        }
        "test_prompt_with_embedded_resource" => json!([
            says(
                json!({"type": "resource", "resource": {"uri": argument("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing."}})
            ),
            text("Please process the embedded resource above."),
        ]),
        "test_prompt_with_image" => json!([
            says(json!({"type": "image", "data": PNG, "mimeType": "image/png"})),
            text("Please analyze the image above."),
        ]),
        "test_input_required_result_prompt" => {
            match params["inputResponses"]["user_context"]["content"]["context"].as_str() {
                Some(context) => json!([text(&format!("Context: {context}"))]),
                None => {
                    let ask = elicit("What context should the prompt use?", "context", "string");
                    return wanted(json!({ "user_context": ask }), None);
                }
            }
        }
        _ => return Reply::Fail(RpcError::invalid_params("no such prompt")),
    };
    done(json!({ "messages": messages }))
}

fn resources() -> Value {
    json!([
        {"uri": "test://static-text", "name": "Static text", "description": "Some text", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "Static binary", "description": "A picture", "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "Watched", "description": "Never changes", "mimeType": "text/plain"},
    ])
}

fn templates() -> Value {
    json!([{"uriTemplate": "test://template/{id}/data", "name": "Template", "description": "Data by id",
        "mimeType": "application/json"}])
}

fn read(params: &Value, version: Version) -> Reply<()> {
    let uri = params["uri"].as_str().unwrap_or_default();
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, id) {
        ("test://static-text", _) => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        ("test://watched-resource", _) => json!({"uri": uri, "mimeType": "text/plain", "text": "unchanged"}),
        (_, Some(id)) => {
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
        _ => {
            let code = if version.is_modern() { RpcError::INVALID_PARAMS } else { -32002 };
            return Reply::Fail(
                RpcError::new(code, "Resource not found").with_data(json!({"uri": uri}).to_string()),
            );
        }
    };
    list("contents", json!([content]))
}
