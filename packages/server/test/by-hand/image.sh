#!/usr/bin/env bash
# Builds the image without a registry and tries it: start, collect, query, restart, read-only root, another user id.
# Needs root, buildah, podman, runc and debootstrap (apt-get install --no-install-recommends buildah podman runc
# debootstrap), and Node.js 24 with npm in what is installed here. Usage: bash packages/server/test/by-hand/image.sh [WORK]
set -euo pipefail
cd "$(dirname "$0")/../../../.."
work=${1:-$(mktemp -d)}
port=18080
store=(--root "$work/storage" --runroot "$work/run" --storage-driver vfs)
run=("${store[@]}" --runtime runc --cgroup-manager cgroupfs)

echo "== base: Debian with Node.js 24"
if [ ! -d "$work/base" ]; then
  debootstrap --variant=minbase --include=ca-certificates bookworm "$work/base" > "$work/debootstrap.log"
  install -m 755 node_modules/node-linux-*/bin/node "$work/base/usr/local/bin/node"
  cp -r "$(dirname "$(readlink -f "$(command -v npm)")")/.." "$work/base/usr/local/lib/npm"
  ln -s ../lib/npm/bin/npm-cli.js "$work/base/usr/local/bin/npm"
  # What this machine trusts, so that npm works behind a proxy of its own too.
  cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs/"
  rm -rf "$work/base/var/cache/apt" "$work/base/var/lib/apt/lists"
fi
if ! buildah "${store[@]}" images --quiet localhost/node-base > /dev/null 2>&1; then
container=$(buildah "${store[@]}" from scratch)
buildah "${store[@]}" add --quiet "$container" "$work/base" / > /dev/null
buildah "${store[@]}" config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
buildah "${store[@]}" commit --quiet --rm "$container" localhost/node-base > /dev/null
fi

if ! buildah "${store[@]}" images --quiet localhost/millrace > /dev/null 2>&1; then
echo "== build"
buildah "${store[@]}" build --isolation chroot --format docker --quiet \
  --build-arg BASE=localhost/node-base --tag localhost/millrace .
fi
echo "bytes: $(podman "${run[@]}" image inspect --format '{{.Size}}' localhost/millrace)"

begin() {
  podman "${run[@]}" run --detach --name millrace --network host --log-driver k8s-file --no-healthcheck --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --read-only --tmpfs /tmp --cap-drop all \
    --user 1000 --volume "$work/data:/data" --env MILLRACE_PORT=$port --env MILLRACE_ADMIN_PASSWORD='twelve grey herons' localhost/millrace > /dev/null
  for _ in $(seq 120); do
    curl --silent --fail "http://127.0.0.1:$port/health/ready" > /dev/null && return
    sleep 1
  done
  podman "${run[@]}" logs millrace
  exit 1
}
end() { podman "${run[@]}" stop --time 30 millrace > /dev/null && podman "${run[@]}" rm millrace > /dev/null; }
trap 'podman "${run[@]}" rm --force millrace > /dev/null 2>&1' EXIT

mkdir -p "$work/data" && chown 1000:1000 "$work/data"
echo "== start, collect, query"
begin
known() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$work/data/bootstrap.json"; }
token=$(curl --silent "http://127.0.0.1:$port/v2/auth/token" -H 'Content-Type: application/json' -d "{\"grant_type\": \"password\",
  \"client_id\": \"$(known clientId)\", \"username\": \"$(known adminEmail)\", \"password\": \"twelve grey herons\"}" |
  sed 's/.*"access_token":"\([^"]*\)".*/\1/')
curl --silent --fail "http://127.0.0.1:$port/collect/$(known datasourceId)/tracker" -H 'Content-Type: application/json' -d "{
  \"key\": \"$(known companyId)\", \"name\": \"page_view\", \"v\": 1, \"url\": \"https://shop.example/\", \"tmpId\": \"d\",
  \"eventId\": \"image-1\", \"data\": {}}"
count() {
  curl --silent "http://127.0.0.1:$port/v2/statistics/query" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -d '{"measures": ["events.count"], "dimensions": [], "filters": [], "timeDimensions": []}' | grep -o 'events.count[^}]*' || true
}
for _ in $(seq 60); do [[ $(count) == *1* ]] && break; sleep 0.5; done
echo "counted: $(count)"
podman "${run[@]}" exec millrace node packages/server/src/main.ts doctor || true
echo "== stop and start again"
end
begin
echo "counted: $(count)"
[[ $(count) == *1* ]]
end
echo "== done"
