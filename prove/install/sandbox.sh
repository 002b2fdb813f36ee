# Runs the script $1 as root of namespaces of its own, in which the folders of the manual are copies. prove/install/page.ts starts it.
set -eu
folders='/opt /etc /var/lib /var/backups /usr/local/bin'
for folder in $folders; do
  copy="$SANDBOX$folder"
  mkdir -p "$copy"
  case $folder in
    # Only root may read some of the files.
    /etc | /usr/local/bin) cp -a "$folder/." "$copy" 2> "$SANDBOX/unreadable" || true ;;
  esac
  mount --bind "$copy" "$folder"
done
touch /etc/shadow /etc/gshadow
mkdir -p /etc/systemd/system
install -m 0644 "$SANDBOX/ca.pem" "$NODE_EXTRA_CA_CERTS"
# The stand-in for systemctl comes first.
code=0
PATH="$SANDBOX/bin:$PATH" bash "$1" || code=$?
# Outside of the namespaces, files of the user grantor may belong to a user whose files this one cannot remove.
kill -9 -1 || true
for folder in $folders; do umount --recursive --lazy "$folder"; done
rm -rf "$SANDBOX/opt" "$SANDBOX/etc" "$SANDBOX/var" "$SANDBOX/usr"
exit "$code"
