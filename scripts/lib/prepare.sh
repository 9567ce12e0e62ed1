# Sourced by scripts/quickstart and scripts/test: puts on this machine what the checkout needs, and builds it.
# Nothing here starts or enables a service, or touches an interface or resolv.conf of this host.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LOGS=$ROOT/.cache/logs

fail() {
  printf 'error: %s\n' "$1" >&2
  [ -z "${2:-}" ] || printf '  remedy: %s\n' "$2" >&2
  exit 3
}

# step TITLE LOG COMMAND...: runs it with its output in the log, and says every few seconds that it still runs.
step() {
  local title=$1 log=$2 started=$SECONDS pid status shown=0
  shift 2
  mkdir -p "$LOGS"
  "$@" >"$LOGS/$log" 2>&1 </dev/null &
  pid=$!
  printf '  %s ' "$title"
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if [ $((SECONDS - started)) -ge $((shown + 3)) ]; then
      shown=$((SECONDS - started))
      printf '.'
    fi
  done
  wait "$pid"
  status=$?
  if [ "$status" -ne 0 ]; then
    printf ' failed\n'
    tail -n 25 "$LOGS/$log" | sed 's/^/    /' >&2
    fail "$title failed with status $status" "read $LOGS/$log"
  fi
  printf ' done (%ss)\n' $((SECONDS - started))
}

require_root() {
  [ "$(id -u)" -eq 0 ] || fail 'network namespaces need root' "run it as: sudo $1"
}

require_node() {
  command -v node >/dev/null || fail 'Node.js is not on the PATH' 'install Node 20.19 or newer; under sudo it must be on the secure path'
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "Node.js $(node --version) is too old" 'install Node 20.19 or newer'
}

# Debian packages by name; only missing ones are installed.
require_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  printf '  missing Debian packages: %s\n' "${missing[*]}"
  step 'reading the package lists' apt-update.log apt-get update
  step 'installing them (no service of theirs is started or enabled)' apt-install.log install_quietly "${missing[@]}"
}

# Debian starts and enables what it installs. Here the two programs by which its maintainer scripts start services are covered with
# /bin/true in a mount namespace of this one apt-get, and services that this run brought are disabled after it.
install_quietly() {
  local before service
  before=$(services)
  DEBIAN_FRONTEND=noninteractive unshare --mount --propagation private bash -c '
    for program in /usr/sbin/invoke-rc.d /usr/bin/deb-systemd-invoke; do
      [ ! -e "$program" ] || mount --bind /bin/true "$program" || exit 1
    done
    exec apt-get install -y --no-install-recommends --no-remove "$@"' bash "$@" || return 1
  comm -13 <(printf '%s\n' "$before") <(services) | while read -r service; do
    case $service in
      *.service) systemctl disable "$service" || true ;;
      *) update-rc.d "$service" disable ;;
    esac
  done
}

# Units, and init scripts that have no unit (isc-dhcp-server).
services() {
  {
    find /lib/systemd/system /usr/lib/systemd/system -maxdepth 1 -name '*.service' -printf '%f\n' 2>/dev/null
    find /etc/init.d -maxdepth 1 -type f -printf '%f\n' 2>/dev/null
  } | sort -u
}

# A program of a package that cannot be installed beside what a host has (chrony would push systemd-timesyncd out): unpacked into the
# checkout's cache and put on the PATH of this run.
require_unpacked() {
  local package=$1 program=$2 unpacked=$ROOT/.cache/unpacked
  PATH=$PATH:$unpacked/usr/sbin:$unpacked/usr/bin
  command -v "$program" >/dev/null || step "unpacking $package for the tests" "unpack-$package.log" unpack "$package"
}

unpack() {
  local folder
  folder=$(mktemp -d) || return 1
  (cd "$folder" && apt-get download "$1" && mkdir -p "$ROOT/.cache/unpacked" && dpkg-deb -x ./*.deb "$ROOT/.cache/unpacked")
  local status=$?
  rm -rf "$folder"
  return $status
}

# The checkout may belong to a person who called sudo: what is made in it stays theirs.
as_owner() {
  local owner
  owner=$(stat -c %U "$ROOT")
  if [ "$owner" = root ] || [ "$owner" = UNKNOWN ]; then "$@"; else runuser -u "$owner" -- env "PATH=$PATH" "$@"; fi
}

install_modules() {
  local headers
  headers=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  # better-sqlite3 is compiled from its own source: no ready binary is looked for, and Node's own headers are used where they are.
  export npm_config_build_from_source=true
  [ ! -e "$headers/include/node/node.h" ] || export npm_config_nodedir=$headers
  as_owner npm --prefix "$ROOT" ci --no-audit --no-fund
}

require_modules() {
  [ "$ROOT/node_modules/.package-lock.json" -nt "$ROOT/package-lock.json" ] && return 0
  step 'installing npm packages (compiles SQLite once, about a minute)' npm-ci.log install_modules
}

build() {
  step 'building' build.log as_owner "$ROOT/node_modules/.bin/tsc" -b "$ROOT/tsconfig.json"
}

COMPILER_PACKAGES='g++ make python3'
RACK_PACKAGES='iproute2 isc-dhcp-server isc-dhcp-client bind9 bind9-utils bind9-dnsutils'
