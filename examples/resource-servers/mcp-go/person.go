// The Go SDK's client for a person: PERSON opens the link and answers where the browser is sent.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const redirectURL = "http://localhost:51006/callback"

func openLink(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Post(os.Getenv("PERSON"), "text/plain", strings.NewReader(args.URL))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	callback, err := answer.Location()
	if err != nil {
		return nil, err
	}
	query := callback.Query()
	return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, nil
}

func main() {
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL:              redirectURL,
		AuthorizationCodeFetcher: openLink,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "Go", RedirectURIs: []string{redirectURL}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	transport := &mcp.StreamableClientTransport{Endpoint: os.Getenv("RESOURCE"), OAuthHandler: handler}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "proof", Version: "1.0.0"}, nil).Connect(context.Background(), transport, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "count"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
}
