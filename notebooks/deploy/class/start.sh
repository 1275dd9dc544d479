#!/bin/sh
# What two units do on a machine, in a container: the curator as its user, the Hub as root. CLASS_PASSWORD is everybody's.
set -eu
: "${CLASS_PASSWORD:=$(head -c 9 /dev/urandom | base64)}"
for name in teacher $(sed 's/#.*//' /etc/dpnb-class/students.txt); do
    echo "$name:$CLASS_PASSWORD" | chpasswd
done
echo "Log in as one of: teacher $(sed 's/#.*//' /etc/dpnb-class/students.txt | xargs) - with the password $CLASS_PASSWORD"
cd /var/lib/dpnb
setpriv --reuid=dpnb --regid=dpnb --clear-groups /opt/class/bin/dpnb serve --config /var/lib/dpnb/curator.toml &
cd /var/lib/dpnb-hub
export PATH=/opt/class/bin:$PATH
exec jupyterhub -f /etc/dpnb-class/jupyterhub_config.py
