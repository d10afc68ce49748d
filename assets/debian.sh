#!/bin/sh
# Makes a Debian package with completions and man pages: assets/debian.sh [PROGRAM]
# Without PROGRAM the release build is made first. Needs cargo and dpkg-deb; prints the package's path.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
if [ $# -gt 0 ]; then
    program=$1
else
    cargo build --release --locked >&2
    program=$target/release/behaview
fi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architecture=$(dpkg --print-architecture)

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
umask 022

install -Dm755 "$program" "$root/usr/bin/behaview"
mkdir -p "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
    "$root/usr/share/fish/vendor_completions.d" "$root/DEBIAN"
"$program" completions bash > "$root/usr/share/bash-completion/completions/behaview"
"$program" completions zsh > "$root/usr/share/zsh/vendor-completions/_behaview"
"$program" completions fish > "$root/usr/share/fish/vendor_completions.d/behaview.fish"
"$program" man --into "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*.1
install -Dm644 README.md "$root/usr/share/doc/behaview/README.md"
install -Dm644 -t "$root/usr/share/doc/behaview/help" assets/help/*.md
cat LICENSE-MIT LICENSE-APACHE > "$root/usr/share/doc/behaview/copyright"

cat > "$root/DEBIAN/control" <<END
Package: behaview
Version: $version
Section: utils
Priority: optional
Architecture: $architecture
Depends: libc6, libgcc-s1
Recommends: ca-certificates
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Maintainer: The behaview authors
Description: terminal browser for private sandbox behaviour reports
 Browses the behaviour reports of privately scanned files, and prices every
 call in quota before it is made. What was paid for once is stored here.
END

mkdir -p "$target/debian"
package=$target/debian/behaview_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >&2
echo "$package"
