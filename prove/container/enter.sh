# Runs a command as in a container: with the folder $1 as its root, as the user $2, in the folder $3. prove/container/image.ts
# starts it in a mount namespace of its own, and takes the place of the base image: the system's programs, and $BASE in /usr/local/bin.
# With a folder $4 as the volume /data, nothing else can be written.
set -eu
root=$1 user=$2 folder=$3 volume=$4
shift 4
for name in bin sbin lib lib64; do [ -e "$root/$name" ] || cp -P "/$name" "$root/$name"; done
for name in usr etc dev proc; do mkdir -p "$root/$name"; done
mkdir -p -m 1777 "$root/tmp"
mount --bind "$root" "$root"
[ -z "$volume" ] || mount -o remount,bind,ro "$root"
[ -z "$volume" ] || mount --bind "$volume" "$root/data"
for name in usr etc dev proc; do mount --rbind "/$name" "$root/$name"; done
mount --bind "$BASE" "$root/usr/local/bin"
unset BASE
# The command keeps the process id, as the first process of a container gets the signals.
exec /usr/sbin/chroot --userspec="$user" "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
