#!/bin/sh
# Makes a Debian package with completions, man pages and notices: assets/debian.sh [PROGRAM]
# Without PROGRAM the release build is made first. Needs cargo and dpkg-dev; prints the package's path. The same sources and
# tools make the same bytes. DEBFULLNAME and DEBEMAIL name the maintainer, else the author of the last commit.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)}
export SOURCE_DATE_EPOCH
registry=${CARGO_HOME:-$HOME/.cargo}/registry/src
if [ $# -gt 0 ]; then
    program=$1
else
    # Paths of this machine are no part of the program.
    RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$registry=/crates --remap-path-prefix=$PWD=/behaview" cargo build --release --locked >&2
    program=$target/release/behaview
fi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architecture=$(dpkg --print-architecture)
author=$(git log -1 --format='%an <%ae>' 2>/dev/null || echo "The behaview authors <behaview@localhost.invalid>")
maintainer=${DEBEMAIL:+${DEBFULLNAME:-The behaview authors} <$DEBEMAIL>}
maintainer=${maintainer:-$author}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root share=$work/root/usr/share doc=$work/root/usr/share/doc/behaview
umask 022

install -Dm755 "$program" "$root/usr/bin/behaview"
mkdir -p "$root/DEBIAN" "$work/debian" "$doc" "$share/man/man7" \
    "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
"$program" completions bash > "$share/bash-completion/completions/behaview"
"$program" completions zsh > "$share/zsh/vendor-completions/_behaview"
"$program" completions fish > "$share/fish/vendor_completions.d/behaview.fish"

# The commands are in section 1, the topics of the manual in section 7.
"$program" man --into "$share/man/man1"
topics=""
for text in assets/help/*.md; do
    page=behaview-$(basename "$text" .md)
    topics="$topics,
.BR ${page} (7)"
    awk -v "name=$page" -v "source=behaview $version" -f assets/man.awk "$text" > "$share/man/man7/$page.7"
done
echo ".SH SEE ALSO${topics#,}" >> "$share/man/man1/behaview.1"
gzip -9n "$share"/man/man*/*

install -m644 README.md "$doc/README.md"
install -m644 .github/CHANGELOG.md "$doc/NEWS.md"
gzip -9n "$doc/NEWS.md"
gzip -9n > "$doc/changelog.gz" <<END
behaview ($version) unstable; urgency=medium

  * The changes of each version are in NEWS.md.gz.

 -- $maintainer  $(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" -R)
END
{
    cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: the behaview authors
License: Apache-2.0 or MIT
Comment: Crates that are linked into the program, SQLite and zstd are
 named with their licences and notices in NOTICES.gz.

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.

License: MIT
END
    sed 's/^$/./; s/^/ /' LICENSE-MIT
} > "$doc/copyright"

# The licences of what is linked, then each text once, below the crates that have it.
cargo tree --locked --offline -e normal,no-proc-macro --prefix none --format '{p} {l}' | sed 's/ (\*)$//; /^behaview /d' |
    LC_ALL=C sort -u > "$work/linked"
{
    cat "$work/linked"
    echo "SQLite, in libsqlite3-sys: public domain, https://sqlite.org/copyright.html"
    while read -r name number licence; do
        ls -d "$registry"/*/"$name-${number#v}" "$registry"/*/"$name-${number#v}/zstd" 2>/dev/null || true
    done < "$work/linked" | xargs sh -c 'find "$@" -maxdepth 1 -type f' find | grep -iE '/(licen[sc]e|copying|notice|unlicense)[^/]*$' |
        LC_ALL=C sort | xargs sha256sum | LC_ALL=C sort | awk -v skip="$registry" '
            function end() { print ""; while (text && (getline line < text) > 0) print line; close(text) }
            $1 != last { end(); print "\n----------------------------------------------------------------"; text = $2; last = $1 }
            { name = substr($2, length(skip) + 2); sub(/^[^\/]*\//, "", name); print name }
            END { end() }'
} | gzip -9n > "$doc/NOTICES.gz"

printf 'Source: behaview\n\nPackage: behaview\nArchitecture: any\n' > "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/behaview | sed 's/^shlibs:Depends=//')
cat > "$root/DEBIAN/control" <<END
Package: behaview
Version: $version
Section: utils
Priority: optional
Architecture: $architecture
Depends: $depends
Recommends: ca-certificates
Suggests: less
Installed-Size: $(du -k --apparent-size -s "$root/usr" | cut -f 1)
Maintainer: $maintainer
Description: terminal browser for private sandbox behaviour reports
 Browses the behaviour reports of privately scanned files, and prices every
 call in quota before it is made. What was paid for once is stored here.
END

mkdir -p "$target/debian"
package=$target/debian/behaview_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >&2
echo "$package"
