#!/bin/sh
# merge.sh FILE…: put the one-line results of measure.sh together, largest package first.
set -eu
sort -k4,4nr -- "$@"
