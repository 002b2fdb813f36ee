package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

type claims struct {
	Subject string `json:"sub"`
	Scope   string `json:"scope"`
	// Bound tokens need a proof.
	Bound json.RawMessage `json:"cnf"`
}

func main() {
	issuer, resource := os.Getenv("ISSUER"), os.Getenv("RESOURCE")
	keys := oidc.NewRemoteKeySet(context.Background(), issuer+"/v2/oauth/jwks")
	// ClientID is what go-oidc compares with aud: of an access token that is the API.
	verifier := oidc.NewVerifier(issuer, keys, &oidc.Config{ClientID: resource, SupportedSigningAlgs: []string{"ES256"}})

	http.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		found, err := verify(r.Context(), verifier, token)
		if err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if !slices.Contains(strings.Fields(found.Scope), "orders:read") {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="orders:read"`)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"for":%q,"orders":7}`, found.Subject)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("MCP_PORT"), nil))
}

// verify checks typ, which go-oidc does not look at, and then signature, iss, aud and exp.
func verify(ctx context.Context, verifier *oidc.IDTokenVerifier, token string) (claims, error) {
	encoded, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return claims{}, err
	}
	var header struct {
		Type string `json:"typ"`
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return claims{}, err
	}
	if header.Type != "at+jwt" {
		return claims{}, errors.New("not an access token")
	}
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		return claims{}, err
	}
	var found claims
	if err := verified.Claims(&found); err != nil {
		return claims{}, err
	}
	if found.Bound != nil {
		return claims{}, errors.New("bound to a key")
	}
	return found, nil
}
