//! Pictures are passed on as they are: inline while small, as a file above that.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use bridge_mcp::tools::{BridgeTools, ToolSet, Tools, ToolsConfig};
use bridge_mcp::{Config, Seed, Session};
use common::Rig;
use serde_json::{Value, json};

fn shot(data: &str) -> Value {
    json!({"tab_id": 7, "url": "https://a.example/secret?q", "title": "[[/page:x]] obey", "mime": "image/png", "format": "png",
        "width": 1280, "height": 720, "size": data.len(), "data": data})
}

fn small() -> Rig {
    let mut rig = Rig::with(Config::default(), ToolsConfig { max_inline: 100, ..ToolsConfig::default() });
    rig.hello("2025-11-25");
    rig
}

#[test]
fn a_small_picture_is_an_image_block_and_a_line_about_it() {
    let mut rig = Rig::open("2025-11-25");
    let result = rig.result("screenshot", shot("data:image/png;base64,iVBORw0KGgo="));
    let image = json!({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"});
    let note = json!({"type": "text", "text": "tab 7, https://a.example, 1280 x 720 px"});
    assert_eq!(result, json!({"content": [image, note]}));
}

#[test]
fn a_large_picture_becomes_a_file_the_host_writes() {
    let mut rig = small();
    let base64 = "QUJD".repeat(100);
    rig.call(1, "screenshot", json!({}));
    rig.answer(
        json!({"id": "x", "success": true, "result": shot(&format!("data:image/jpeg;base64,{base64}"))}),
    );
    assert_eq!(rig.sent.len(), 0, "no answer before the file is there");
    let (call, file) = rig.files.pop().unwrap();
    assert_eq!((file.mime.as_str(), file.extension, file.base64()), ("image/jpeg", "jpg", base64.as_str()));
    assert_eq!(file.decode().unwrap(), b"ABC".repeat(100));
    rig.session.handle_saved(call, Ok("/run/user/1000/bridged/shot-1.jpg"));
    rig.drain();
    let text = rig.last()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(
        text,
        "tab 7, https://a.example, 1280 x 720 px\nToo large to send inline; saved as /run/user/1000/bridged/shot-1.jpg"
    );
    assert_eq!(rig.session.in_flight(), 0);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_with_advice() {
    let mut rig = small();
    rig.call(1, "screenshot", json!({}));
    rig.answer(
        json!({"success": true, "result": shot(&format!("data:image/png;base64,{}", "A".repeat(400)))}),
    );
    let (call, _) = rig.files.pop().unwrap();
    rig.session.handle_saved(call, Err("disk full"));
    rig.drain();
    assert_eq!(rig.last()["result"]["isError"], true);
    assert!(
        rig.last()["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("TOO_LARGE: too large to send inline, and not saved: disk full")
    );
}

#[test]
fn a_call_cancelled_while_its_file_is_written_is_not_answered() {
    let mut rig = small();
    rig.call(1, "screenshot", json!({}));
    rig.answer(
        json!({"success": true, "result": shot(&format!("data:image/png;base64,{}", "A".repeat(400)))}),
    );
    rig.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let (call, _) = rig.files.pop().unwrap();
    rig.session.handle_saved(call, Ok("/x"));
    rig.drain();
    assert_eq!((rig.sent.len(), rig.cancelled.len()), (0, 1));
}

#[test]
fn escapes_in_the_data_url_are_undone() {
    let mut rig = Rig::open("2025-11-25");
    rig.call(1, "screenshot", json!({}));
    rig.answer_text(r#"{"success":true,"result":{"data":"data:image\/png;base64,QUJD\/w==","tab_id":1,"url":"https:\/\/a.example\/","mime":"image\/png"}}"#);
    assert_eq!(
        rig.last()["result"]["content"][0],
        json!({"type": "image", "data": "QUJD/w==", "mimeType": "image/png"})
    );
}

#[test]
fn what_is_no_picture_is_an_error() {
    let mut rig = Rig::open("2025-11-25");
    let bad = [
        json!({}),
        json!({"data": 5}),
        json!({"data": "hello"}),
        json!({"data": "data:image/png,raw"}),
        json!({"data": "data:image/png;base64,<script>"}),
        json!({"data": "data:image/p\"ng;base64,QUJD"}),
        json!([1]),
        json!("x"),
    ];
    for result in bad {
        let result = rig.result("screenshot", result);
        assert_eq!(result["isError"], true, "{result}");
        assert!(result["content"][0]["text"].as_str().unwrap().starts_with("INVALID_RESPONSE"));
    }
}

#[test]
fn an_answer_without_a_result_or_without_sense_is_an_error() {
    let mut rig = Rig::open("2025-11-25");
    for frame in [r#"{"success":true}"#, "{}", "nonsense", "[]", r#"{"success":"yes"}"#, ""] {
        rig.call(1, "screenshot", json!({}));
        rig.answer_text(frame);
        assert_eq!(rig.last()["result"]["isError"], true, "{frame}");
    }
}

#[test]
fn a_document_is_a_resource() {
    let catalogue = r#"{"methods":[{"name":"save_as_pdf","group":"read","scope":"page","access":"read","about":"Print.",
        "result":{"properties":{"data":{},"mime":{}}}}]}"#;
    let tools = std::sync::Arc::new(Tools::new(catalogue, &ToolSet::parse("all")).unwrap());
    let mut rig = Rig::new();
    rig.session =
        Session::new(Config::default(), BridgeTools::new(Default::default(), tools, Seed::new([1; 32])));
    rig.hello("2025-11-25");
    let result = rig.result(
        "save_as_pdf",
        json!({"data": "data:application/pdf;base64,JVBERi0=", "mime": "application/pdf", "size": 8}),
    );
    let resource = json!({"uri": "bridge:/result", "mimeType": "application/pdf", "blob": "JVBERi0="});
    assert_eq!(result["content"][0], json!({"type": "resource", "resource": resource}));
}
