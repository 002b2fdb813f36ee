import hmac, html, os, secrets
from typing import Annotated
from urllib.parse import quote

import httpx
from fastapi import Depends, FastAPI, Form, HTTPException
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.security import HTTPBasic, HTTPBasicCredentials

# Signs users in for Grantor. Replace `user_of` by the users and sessions of your application.
API = os.environ["DELEGATE_ADMIN_URL"] + "/admin/v1/interactions/"
HEADERS = {"Authorization": "Bearer " + os.environ["DELEGATE_TOKEN"]}
CSRF_KEY = secrets.token_bytes(32)
app = FastAPI()


def user_of(given: Annotated[HTTPBasicCredentials, Depends(HTTPBasic(realm="Acme"))]) -> dict:
    if given.username != "ada" or not secrets.compare_digest(given.password.encode(), os.environ["ADA_PASSWORD"].encode()):
        raise HTTPException(401, headers={"WWW-Authenticate": 'Basic realm="Acme"'})
    return {"subject": "u_4711", "name": "Ada Lovelace", "email": "ada@acme.test", "email_verified": True}


def ask(interaction: str, action: str = "", body: dict | None = None) -> dict:
    method = "GET" if body is None else "POST"
    answer = httpx.request(method, API + quote(interaction, safe="") + action, headers=HEADERS, json=body)
    return answer.raise_for_status().json()


def csrf_of(user: dict, interaction: str) -> str:
    return hmac.new(CSRF_KEY, f"{user['subject']} {interaction}".encode(), "sha256").hexdigest()


def describe(client: dict | None, scopes: list[dict]) -> list[str]:
    if client is None:
        return ["Open your account pages."]
    kind, host, scheme = (client["destination"][part] for part in ("kind", "host", "scheme"))
    places = {"host": host, "this-computer": "a program on this computer", "app": f"the app that opens {scheme} links"}
    trust = "Unverified: Acme has not checked who this app is." if client["trust_level"] == "unverified" else "Known to Acme."
    access = [(scope["sentences"] or [scope["name"]])[0] for scope in scopes]
    name = client["client_name"] or "An app without a name"
    return [f"{name} wants to use your account.", trust, *access, f"Afterwards you are sent to {places[kind]}."]


@app.get("/oauth/consent")
def show(interaction: str, user: Annotated[dict, Depends(user_of)]) -> HTMLResponse:
    asked, key = ask(interaction), html.escape(interaction)
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in describe(asked["client"], asked["scopes"]))
    fields = f'<input type="hidden" name="interaction" value="{key}"><input type="hidden" name="csrf" value="{csrf_of(user, interaction)}">'
    buttons = '<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button>'
    page = f'<!doctype html><title>Acme</title><h1>Signed in as {html.escape(user["name"])}</h1>{lines}<form method="post">{fields}{buttons}</form>'
    return HTMLResponse(page, headers={"Content-Security-Policy": "frame-ancestors 'none'", "Cache-Control": "no-store"})


@app.post("/oauth/consent")
def decide(interaction: Annotated[str, Form()], csrf: Annotated[str, Form()], decision: Annotated[str, Form()], user: Annotated[dict, Depends(user_of)]):
    if not secrets.compare_digest(csrf.encode(), csrf_of(user, interaction).encode()):
        raise HTTPException(403)
    answer = ask(interaction, "/accept", {**user, "decision": decision}) if decision == "allow" else ask(interaction, "/reject", {})
    return RedirectResponse(answer["redirect_to"], 303)
