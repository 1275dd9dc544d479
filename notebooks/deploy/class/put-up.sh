#!/bin/sh
# Puts up users and files of a class, as root; run again, it changes nothing that is there. $1: the folder with curator.toml.
set -eu
here=${1:-$(dirname "$0")}
install -d -m 755 /etc/dpnb-class
install -d -m 700 /var/lib/dpnb-hub
id dpnb >/dev/null 2>&1 || useradd --system --home-dir /var/lib/dpnb --shell /usr/sbin/nologin dpnb
install -d -m 700 -o dpnb -g dpnb /var/lib/dpnb
for name in jupyterhub_config.py students.txt; do
    [ -e /etc/dpnb-class/$name ] || install -m 644 "$here/$name" /etc/dpnb-class/$name
done
[ -e /var/lib/dpnb/curator.toml ] || install -m 600 -o dpnb -g dpnb "$here/curator.toml" /var/lib/dpnb/curator.toml
if [ ! -e /var/lib/dpnb/host.key ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 730 -subj "/CN=127.0.0.1" \
        -addext "subjectAltName=IP:127.0.0.1" -keyout /var/lib/dpnb/host.key -out /etc/dpnb-class/host.pem 2>/dev/null
    install -m 600 -o dpnb -g dpnb /etc/dpnb-class/host.pem /var/lib/dpnb/host.pem
    chown dpnb:dpnb /var/lib/dpnb/host.key
    chmod 600 /var/lib/dpnb/host.key
    chmod 644 /etc/dpnb-class/host.pem
fi
for name in teacher $(sed 's/#.*//' /etc/dpnb-class/students.txt); do
    id "$name" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$name"
    chmod 700 "$(getent passwd "$name" | cut -d: -f6)"
done
