# The counts of the second file held against the baseline in the first: a line each, and failure if one is more than `limit`
# percent above. Without a limit nothing fails. A path that is gone fails, for nobody would count it any more.
NR == FNR { if ($1 != "#") known[$1] = $2; next }
!($1 in known) { printf "%-44s %10d        new\n", $1, $2; next }
{
    change = ($2 - known[$1]) * 100 / known[$1]
    worse = limit != "" && change > limit
    failed = failed || worse
    printf "%-44s %10d %+9.2f %%%s\n", $1, $2, change, worse ? "  too much, was " known[$1] : ""
    delete known[$1]
}
END {
    for (path in known) {
        printf "%-44s %10s        gone, was %d\n", path, "", known[path]
        failed = failed || limit != ""
    }
    if (failed) print "If it is worth it: core/benches/compare.sh --record, in the same commit, saying why."
    exit failed
}
