#!/bin/sh
# Another release of Slurm for the rig that records (../shared/oracle): built from its sources, and a copy of the rig that runs it.
#   other_release.sh SOURCES PREFIX RIG COPY     SOURCES: an unpacked slurm-24.11.5; PREFIX: where it goes; RIG: a rig that is set up; COPY: its copy
#   RIG_RUN_DIR=RIG/run python3 COPY/rig.py run CASE --rate 25 --offset 0 --out OUT --slot 3 --debugflags ,TraceJobs,Route
#   replay.py CASE OUT FORESITE --slurm-version 24.11
# Needs gcc, make and libmariadb-dev; some ten minutes on two cores. Slots are ports: no two recordings at once may have the same.
set -e
sources=$(realpath "$1"); prefix=$2; rig=$(realpath "$3"); copy=$4
build=$(mktemp -d)
(cd "$build" && CFLAGS="-O2 -g0" "$sources/configure" --prefix="$prefix" --sysconfdir="$prefix/etc" --enable-multiple-slurmd --disable-debug \
    --without-munge --disable-x11 --disable-pam --without-rpath && make -j2 && make install) > "$build.log" 2>&1 || { tail -20 "$build.log"; exit 1; }
rm -rf "$build"
mkdir -p "$copy" && cp -r "$rig"/*.py "$rig"/bin "$rig"/src "$copy"
sed -i -e "s#\"/usr/sbin/\(slurm[a-z]*\)\"#\"$prefix/sbin/\1\"#g" -e "s#\"/usr/bin/\" + c#\"$prefix/bin/\" + c#" -e "s#\"PATH\": \"#&$prefix/bin:$prefix/sbin:#" \
    -e "s#/usr/lib/x86_64-linux-gnu/slurm-wlm/#$prefix/lib/slurm/#g" -e "s#\[\"dpkg-query\"[^]]*\]#[\"$prefix/sbin/slurmctld\", \"-V\"]#" "$copy/rig.py"
echo "ready: $copy/rig.py runs $("$prefix/sbin/slurmctld" -V)"
