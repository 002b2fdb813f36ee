// Whom the API server of Kubernetes takes the ID tokens of Grantor for: its own authenticator, without a cluster. It reads a token a line, and
// prints the name and the groups of its user, or why it refuses.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

func main() {
	issuer, client, ca := os.Args[1], os.Args[2], os.Args[3]
	ctx := context.Background()
	roots, err := dynamiccertificates.NewDynamicCAContentFromFile("oidc-authenticator", ca)
	if err != nil {
		fail(err)
	}
	// As --oidc-issuer-url, --oidc-client-id, --oidc-username-claim, --oidc-groups-claim and --oidc-groups-prefix say it.
	prefix, none := "grantor:", ""
	authenticator, err := oidc.New(ctx, oidc.Options{
		JWTAuthenticator: apiserver.JWTAuthenticator{
			Issuer: apiserver.Issuer{URL: issuer, Audiences: []string{client}},
			ClaimMappings: apiserver.ClaimMappings{
				Username: apiserver.PrefixedClaimOrExpression{Claim: "sub", Prefix: &none},
				Groups:   apiserver.PrefixedClaimOrExpression{Claim: "groups", Prefix: &prefix},
			},
		},
		CAContentProvider:    roots,
		SupportedSigningAlgs: oidc.AllValidSigningAlgorithms(),
	})
	if err != nil {
		fail(err)
	}
	for until := time.Now().Add(30 * time.Second); authenticator.HealthCheck() != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			fail(authenticator.HealthCheck())
		}
	}
	fmt.Println(`{"ready":true}`)
	tokens := bufio.NewScanner(os.Stdin)
	tokens.Buffer(nil, 1<<20)
	for tokens.Scan() {
		answer, isKnown, err := authenticator.AuthenticateToken(ctx, tokens.Text())
		said := map[string]any{"known": isKnown && err == nil}
		if err != nil {
			said["error"] = err.Error()
		} else if isKnown {
			said["name"], said["groups"] = answer.User.GetName(), answer.User.GetGroups()
		}
		line, _ := json.Marshal(said)
		fmt.Println(string(line))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
