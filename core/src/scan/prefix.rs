//! The first bytes of a proven extension's large answer, which are all that is needed to route it.

use core::ops::Range;

/// Where the id stands in a frame that begins exactly `{"id":"…","success":true|false,` and ends with `}`.
pub(crate) fn prefix(frame: &[u8], id_len: usize) -> Option<Range<usize>> {
    const HEAD: &[u8] = b"{\"id\":\"";
    let id = HEAD.len()..HEAD.len().saturating_add(id_len);
    let rest = frame.get(id.end..)?.strip_prefix(b"\",\"success\":")?;
    let exact = frame.starts_with(HEAD) && (rest.starts_with(b"true,") || rest.starts_with(b"false,"));
    (exact && frame.last() == Some(&b'}')).then_some(id)
}
