#!/bin/sh
# The two certificate issuers that a deployment may name in TLS_CLUSTER_ISSUER:
#   letsencrypt-staging      for trying out; browsers do not trust it
#   letsencrypt-production   for real use; it counts how often it is asked
#
# acme-issuers.sh [print|apply|delete]     print (default) writes them to standard output
# ACME_EMAIL, when set, is told of certificates about to expire.
set -eu

issuer() {
  cat <<END
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata:
  name: $1
spec:
  acme:
    server: $2
    privateKeySecretRef:
      name: $1
    solvers:
      - http01:
          ingress:
            class: nginx
END
  case ${ACME_EMAIL:-} in
    '') ;;
    *[!A-Za-z0-9._%+@-]* | *@*@* | @* | *@)
      echo "acme-issuers.sh: ACME_EMAIL is not an e-mail address: $ACME_EMAIL" >&2
      return 1
      ;;
    *@*) printf '    email: "%s"\n' "$ACME_EMAIL" ;;
    *)
      echo "acme-issuers.sh: ACME_EMAIL is not an e-mail address: $ACME_EMAIL" >&2
      return 1
      ;;
  esac
}

issuers=$(
  issuer letsencrypt-staging https://acme-staging-v02.api.letsencrypt.org/directory
  issuer letsencrypt-production https://acme-v02.api.letsencrypt.org/directory
)
case ${1:-print} in
  print) printf '%s\n' "$issuers" ;;
  apply) printf '%s\n' "$issuers" | kubectl apply -f - ;;
  delete) printf '%s\n' "$issuers" | kubectl delete --ignore-not-found -f - ;;
  *)
    echo "acme-issuers.sh: unknown action: $1
usage: acme-issuers.sh [print|apply|delete]" >&2
    exit 1
    ;;
esac
