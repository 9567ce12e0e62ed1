#!/bin/sh
# For test/lab/container.ts: boots an overlay of this machine's root as a container, in the mount namespace that the caller made for it.
# boot-container.sh NAME DIRECTORY NETWORK-NAMESPACE BIND...
set -e
name=$1 directory=$2 namespace=$3
shift 3
mount -t tmpfs -o size=1g tmpfs "$directory"
mkdir "$directory/upper" "$directory/work" "$directory/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$directory/upper,workdir=$directory/work" "$directory/root"
etc=$directory/root/etc
# Nothing of this machine starts in it: neither units that packages enabled nor init scripts.
rm -rf "$etc"/systemd/system/*.wants "$etc"/rc?.d
: >"$etc/machine-id"
echo "$name" >"$etc/hostname"
# --keep-unit uses the caller's control group, so each container needs one of its own.
for tree in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
  [ -e "$tree/cgroup.procs" ] || continue
  mkdir -p "$tree/$name"
  echo $$ >"$tree/$name/cgroup.procs"
done
for bind; do set -- "$@" "--bind=$bind"; shift; done
exec systemd-nspawn --quiet --directory="$directory/root" --register=no --keep-unit --boot --machine="$name" --console=pipe \
  --network-namespace-path="/run/netns/$namespace" --capability=CAP_NET_ADMIN "$@"
