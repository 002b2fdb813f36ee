package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"os"
)

type object = map[string]any
var page = template.Must(template.New("").Parse(`<!doctype html><title>Acme</title><h1>Signed in as {{.User.name}}</h1>{{with .Asked.client}}<p>{{or .client_name "An app without a name"}} wants to use your account.</p><p>{{if eq .trust_level "unverified"}}Unverified: Acme has not checked who this app is.{{else}}Known to Acme.{{end}}</p>
{{range $.Asked.scopes}}<p>{{or (and .sentences (index .sentences 0)) .name}}</p>{{end}}<p>Afterwards you are sent to {{with .destination}}{{or .host .scheme}}{{if eq .kind "app"}}, an app on this device{{end}}{{end}}.</p>{{end}}
<form method="post"><input type="hidden" name="interaction" value="{{.Asked.interaction}}"><input type="hidden" name="csrf" value="{{.CSRF}}">
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></form>`))

func ask(method, interaction, action string, body object) (answer object) {
	text, _ := json.Marshal(body)
	address := os.Getenv("DELEGATE_ADMIN_URL") + "/admin/v1/interactions/" + url.PathEscape(interaction) + action
	request, _ := http.NewRequest(method, address, bytes.NewReader(text))
	request.Header = http.Header{"Authorization": {"Bearer " + os.Getenv("DELEGATE_TOKEN")}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != 200 {
		panic(fmt.Sprint("Grantor did not answer: ", err, response))
	}
	defer response.Body.Close()
	json.NewDecoder(response.Body).Decode(&answer)
	return answer
}

// Signs users in for Grantor. Replace the password of Ada by the users and sessions of your application.
func main() {
	csrfKey := []byte(rand.Text())
	http.HandleFunc("/oauth/consent", func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		user := object{"subject": "u_4711", "name": "Ada Lovelace", "email": "ada@acme.test", "email_verified": true, "decision": "allow"}
		interaction, mac := r.FormValue("interaction"), hmac.New(sha256.New, csrfKey)
		fmt.Fprint(mac, user["subject"], " ", interaction)
		csrf := fmt.Sprintf("%x", mac.Sum(nil))
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if password == "" || password != os.Getenv("ADA_PASSWORD") {
			w.Header().Set("WWW-Authenticate", `Basic realm="Acme"`)
			w.WriteHeader(401)
		} else if r.Method != "POST" {
			page.Execute(w, object{"User": user, "Asked": ask("GET", interaction, "", nil), "CSRF": csrf})
		} else if !hmac.Equal([]byte(csrf), []byte(r.FormValue("csrf"))) {
			w.WriteHeader(403)
		} else if r.FormValue("decision") == "allow" {
			http.Redirect(w, r, ask("POST", interaction, "/accept", user)["redirect_to"].(string), 303)
		} else {
			http.Redirect(w, r, ask("POST", interaction, "/reject", object{})["redirect_to"].(string), 303)
		}
	})
	panic(http.ListenAndServe("localhost:"+os.Getenv("SAMPLE_PORT"), nil))
}
