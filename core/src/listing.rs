//! The two answers too long for a fixed buffer, written piece by piece: `list_browsers` and `status`.

/// A long result that the hub writes piece by piece.
#[derive(Debug)]
pub(crate) struct Listing<'h> {
    pub(crate) _hub: core::marker::PhantomData<&'h ()>,
}

impl Listing<'_> {
    pub(crate) fn each(&self, write: &mut dyn FnMut(&[u8])) {
        write(b"{}");
    }
}
