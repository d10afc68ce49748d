//! Whatever bytes come in, what comes out can be seen, measured and read back.

mod text {
    mod support;

    mod escaping;
    mod json;
    mod layout;
}
