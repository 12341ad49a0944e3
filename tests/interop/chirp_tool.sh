# Ask everything of condor_chirp: its words are this program's arguments; say what it says, and its code.
try() {
    said=$("$@" 2>&1 </dev/null)
    code=$?
    shift "$words"
    printf '%s -> %s\n%s\n' "$*" "$code" "$said"
}
words=$#
printf 0123456789 >here.dat
: >nothing.dat
try "$@" fetch in.dat got.dat
cat got.dat; echo
try "$@" fetch nowhere got.dat
try "$@" put here.dat put.dat
try "$@" put -mode wc -perm 600 here.dat modes.dat
try "$@" put -mode wa nothing.dat modes.dat
try "$@" put -mode wa here.dat modes.dat
try "$@" put -mode wcx here.dat modes.dat
try "$@" put -mode cwb -perm 640 here.dat bits.dat
try "$@" fetch modes.dat -
try "$@" read in.dat 10
try "$@" read -offset 5 in.dat 10
try "$@" read -offset 1 -stride 2 5 in.dat 6
try "$@" read nowhere 5
try "$@" write modes.dat here.dat 4
try "$@" write -offset 2 modes.dat here.dat 3
try "$@" write -offset 1 -stride 1 2 modes.dat here.dat 4
try "$@" fetch modes.dat -
try "$@" getdir empty
try "$@" getdir nowhere
try "$@" getdir -l empty
try "$@" getdir -l nowhere
try "$@" link in.dat hard
try "$@" link in.dat hard
try "$@" link -s in.dat soft
try "$@" readlink soft 6
try "$@" readlink nowhere 6
try "$@" access in.dat rw
try "$@" access in.dat x
try "$@" access nowhere f
try "$@" chmod in.dat 640
try "$@" chmod nowhere 640
try "$@" chown in.dat -1 -1
try "$@" lchown in.dat -1 -1
try "$@" truncate cut.dat 3
try "$@" truncate nowhere 3
try "$@" utime in.dat 100000 200000
try "$@" utime nowhere 1 2
try "$@" remove hard
try "$@" remove soft
try "$@" remove nowhere
try "$@" rmdir sub
try "$@" rmdir empty
try "$@" rmdir -r tree
try "$@" rmdir nowhere
try "$@" get_job_attr ChirpTestNumber
try "$@" get_job_attr NoSuchThing
try "$@" set_job_attr ChirpTestNew '"a text"'
try "$@" get_job_attr ChirpTestNew
try "$@" set_job_attr_delayed ChirpStep 7
try "$@" get_job_attr_delayed NoSuchThing
try "$@" ulog 'the tool was here'
for file in in.dat sub nowhere; do
    for verb in stat lstat statfs; do
        # Numbers differ from run to run; their names do not.
        "$@" "$verb" "$file" 2>&1 </dev/null | grep -E '^(mode|nlink|size|Error|chirp)|^[a-z_]*:' |
            sed -E '/^(mode|size):/!s/:.*/:/' | tr '\n' ' '
        echo "$verb $file"
    done
done
"$@" getdir sub </dev/null | sort
"$@" getdir -l sub </dev/null | sed -E '/(mode|size):/!s/:.*/:/' | sort
