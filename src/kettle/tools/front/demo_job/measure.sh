#!/bin/sh
# measure.sh PACKAGE: count what the Python sources in the folder PACKAGE are made of.
# Prints one line: package files lines code comments blank functions classes bytes
set -eu
package=$1
files=$(find "$package" -type f -name '*.py' | wc -l)
bytes=$(find "$package" -type f -name '*.py' -exec cat {} + | wc -c)
find "$package" -type f -name '*.py' -exec cat {} + | awk -v package="$package" -v files="$files" -v bytes="$bytes" '
    { lines++ }
    /^[ \t\r]*$/                              { blank++; next }
    /^[ \t]*#/                                { comments++; next }
    /^[ \t]*(async[ \t]+)?def[ \t]/           { functions++ }
    /^[ \t]*class[ \t]/                       { classes++ }
    END {
        code = lines - blank - comments
        printf "%s %d %d %d %d %d %d %d %d\n", package, files, lines, code, comments, blank, functions, classes, bytes
    }'
