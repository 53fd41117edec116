//! Which operations are likely: most are what working peers do, so that runs get deep; the rest is everything else.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::op::{Answer, Ask, Form, Hello, HelloRole, Op, Opening, Params, Shows, Then};

/// One of `usual` in most cases, else one of `rare`.
fn pick<T: Copy>(u: &mut Unstructured<'_>, usual: &[T], rare: &[T]) -> Result<T> {
    let n = usize::from(u8::arbitrary(u)?);
    Ok(if n < 232 || rare.is_empty() { usual[n % usual.len()] } else { rare[n % rare.len()] })
}

impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u8::arbitrary(u)? {
            0..=13 => Self::Open(u.arbitrary()?),
            14..=31 => Self::Hello(u.arbitrary()?, u.arbitrary()?),
            32..=39 => Self::Confirm(u.arbitrary()?, u.arbitrary()?),
            40..=123 => Self::Ask(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            124..=187 => Self::Answer(u8::arbitrary(u)? % 8, u.arbitrary()?),
            188..=195 => Self::Cancel(u.arbitrary()?, pick(u, &[0, 1, 2], &[3, 4, 5, 6, 7, 8, 9, 10, 11])?),
            196..=197 => Self::Notice(u.arbitrary()?, u.arbitrary()?),
            198..=201 => Self::Nasty(u.arbitrary()?, u.arbitrary()?),
            202 => Self::Raw(u.arbitrary()?, u.arbitrary()?),
            203..=214 => Self::Settle(u.arbitrary()?, u.arbitrary()?),
            215..=218 => Self::Close(u.arbitrary()?),
            219 => Self::Vanish(u.arbitrary()?, u.arbitrary()?),
            220..=223 => Self::HalfClose(u.arbitrary()?),
            224..=225 => Self::Reject(u.arbitrary()?, u.arbitrary()?),
            226..=233 => Self::Congest(u.arbitrary()?, u.arbitrary()?),
            234..=241 => Self::Wait(pick(u, &[0, 1, 40, 300, 1_000], &[6_000, 65_000])?),
            242..=251 => Self::Wake,
            252..=253 => Self::Policy,
            254 => Self::Drain,
            _ => Self::Shutdown,
        })
    }
}

impl<'a> Arbitrary<'a> for Opening {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        use Opening::{
            ApprovedBrowser, Browser, Http, Mcp, Memory, SameUser, StrangeBrowser, Stranger, Unix,
        };
        pick(
            u,
            &[SameUser, Unix, Unix, ApprovedBrowser, Browser, Stranger, Http, Mcp],
            &[StrangeBrowser, Memory],
        )
    }
}

impl<'a> Arbitrary<'a> for Hello {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        use HelloRole::{Client, Control, Extension, Missing, Unknown};
        let nth = u8::arbitrary(u)? % 4;
        Ok(Self {
            role: pick(u, &[Extension, Client, Client, Extension, Control], &[Unknown, Missing])?,
            two: u.arbitrary()?,
            browser: pick(u, &[0, 1, 2], &[3, 4, 5])?,
            shows: pick(
                u,
                &[Shows::Nothing, Shows::Key, Shows::Nothing, Shows::Token, Shows::Key, Shows::OldNonce],
                &[
                    Shows::UnknownKey,
                    Shows::BadNonce,
                    Shows::WrongToken,
                    Shows::Resume(nth, true),
                    Shows::Resume(nth, true),
                    Shows::Resume(nth, false),
                ],
            )?,
            client: pick(u, &[0, 0, 1, 2, 4, 8], &[3, 5, 6, 7, 9])?,
            class: u.arbitrary()?,
            odd_name: pick(u, &[false], &[true])?,
        })
    }
}

impl<'a> Arbitrary<'a> for Ask {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            id: pick(u, &[0, 1, 2, 3, 4, 5, 6], &[7, 8, 9, 10, 11])?,
            method: pick(u, &[0, 1, 0, 1, 0, 1, 2, 3, 4, 5], &[6, 7, 8, 9, 10, 11, 12, 13, 14])?,
            params: u.arbitrary()?,
            timeout: match u8::arbitrary(u)? {
                0..=127 => None,
                128..=239 => Some(u16::arbitrary(u)? | 0xa),
                _ => Some(u.arbitrary()?),
            },
            once: pick(u, &[0, 0, 4, 5], &[6, 7])?,
            lies: pick(u, &[false, false, true], &[])?,
            order: u.arbitrary()?,
            spaced: pick(u, &[false, false, true], &[])?,
        })
    }
}

impl<'a> Arbitrary<'a> for Params {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        use Params::{Array, BadBrowser, Browser, Deep, Doubled, Empty, Escaped, Missing, Null, Some};
        pick(
            u,
            &[Some, Missing, Browser(1), Browser(2), Empty],
            &[
                Null,
                BadBrowser,
                Array,
                Doubled,
                Escaped,
                Deep(true),
                Deep(false),
                Browser(0),
                Browser(3),
                Browser(4),
                Browser(5),
            ],
        )
    }
}

impl<'a> Arbitrary<'a> for Then {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        use Then::{Answer, Forward, ForwardChanged, Hold, Receive, Refuse};
        pick(u, &[Receive, Forward, Receive, Forward, Hold, Forward, Hold], &[ForwardChanged, Refuse, Answer])
    }
}

impl<'a> Arbitrary<'a> for Answer {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (by, at) = (u8::arbitrary(u)?, u8::arbitrary(u)?);
        Ok(Self {
            by: pick(u, &[None, None, None, None, None, Some(by)], &[])?,
            alter: pick(u, &[None], &[Some(at)])?,
            form: u.arbitrary()?,
        })
    }
}

impl<'a> Arbitrary<'a> for Form {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        use Form::{
            Both, Broken, Deep, Error, EscapedId, IdLast, Long, LongBroken, LongCut, LongIdLast, Mismatched,
            Neither, NoSuccess, OddSuccess, Result, Spaced, TwoIds,
        };
        pick(
            u,
            &[Result, IdLast, Error, Long, Result, Spaced],
            &[
                LongIdLast, LongBroken, LongCut, Mismatched, NoSuccess, OddSuccess, Both, Neither, TwoIds,
                EscapedId, Broken, Deep,
            ],
        )
    }
}
