# A topic of the manual as a man page: headings, lists, tables and code of its Markdown as roff.
# awk -v name=behaview-pricing -v source="behaview 0.1.0" -f assets/man.awk assets/help/pricing.md
function roff(text) {
    gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); gsub(/'/, "\\(aq", text)
    gsub(/\^/, "\\(ha", text); gsub(/~/, "\\(ti", text); gsub(/\*\*/, "`", text)
    # Code may go on in the next line; strong words do not.
    while (!in_code && text ~ /`/) { sub(/`/, is_bold ? "\\fR" : "\\fB", text); is_bold = !is_bold }
    return text
}
NR == 1 {
    sub(/^# /, "")
    printf ".TH %s 7 \"\" \"%s\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.ad l\n", name, source, name, roff($0)
    next
}
/^```/ { in_code = !in_code; print in_code ? ".PP\n.nf" : ".fi"; next }
in_code { print "\\&" roff($0); next }
# The row above these lines is a heading.
/^\|--/ { row = ""; next }
{ if (row) print row; row = "" }
/^<!--/ { next }
/^\| / {
    sub(/^\| */, ""); sub(/( *\|)+$/, ""); gsub(/\\\|/, "|")
    count = split($0, cells, / +\| +/)
    row = ".TP\n" roff(cells[1]) "\n"
    for (i = 2; i <= count; i++) if (cells[i] != "") row = row (i == 2 ? "" : row ~ /\.$/ ? " " : "; ") roff(cells[i])
    next
}
/^ *$/ { print ".PP"; next }
/^## / { print ".SH " roff(substr($0, 4)); next }
{ sub(/^ +/, "") }
/^- / { print ".IP \\(bu 2\n" roff(substr($0, 3)); next }
{ text = roff($0); print text ~ /^\./ ? "\\&" text : text }
END { if (row) print row }
