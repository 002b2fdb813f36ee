// Written by "npm run docs" from the table of settings and the table of tasks.
/** The settings of docs/configuration.md in camelCase. Each has its default. */
export interface GrantorSettings {
  /** Address at which browsers reach the port of the administration, without a path, or off: the console for users with a role (docs/console.md). Default: http://<host>:<port> while only this machine reaches the port, otherwise off. */
  readonly consoleUrl?: string
  /** File, best on another disk, in which this machine remembers how far the store has got, to notice one that went back. Default: beside a SQLite database; with PostgreSQL in the state folder of systemd, otherwise none. */
  readonly stateFile?: string
  /** Lowest level of events to log. Default: info, or warn when standard output is a terminal. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Who may register a client: open, every caller; token, callers with an initial access token; closed, none (docs/clients.md). */
  readonly registration?: 'open' | 'token' | 'closed'
  /** Which new clients with a metadata document are accepted: open, of every domain; trusted, of trusted domains; off, none (docs/clients.md). */
  readonly clientDocuments?: 'open' | 'trusted' | 'off'
  /** Whether devices without a browser get tokens by a code that a user types: on or off (docs/devices.md). */
  readonly deviceGrant?: 'on' | 'off'
  /** Registrations per minute and network. */
  readonly registrationRate?: number
  /** Authorization requests per minute and network. */
  readonly authorizationRate?: number
  /** Failed client authentications per minute and network before the server returns 429. */
  readonly clientFailureRate?: number
  /** Opaque tokens without a user, and assertions, per minute and unverified client. A tenth of it limits revocations of single access tokens. */
  readonly storedTokenRate?: number
  /** Seconds that an authorization code may be redeemed. */
  readonly codeLifetime?: number
  /** Seconds that an access token is valid. */
  readonly accessTokenLifetime?: number
  /** Seconds that an ID token is valid. */
  readonly idTokenLifetime?: number
  /** Seconds after which an unused refresh token expires. */
  readonly refreshIdleLifetime?: number
  /** Seconds after which a grant ends, however often it was refreshed. */
  readonly refreshAbsoluteLifetime?: number
  /** Seconds in which a refresh request may be repeated because its response was lost. */
  readonly refreshRetry?: number
  /** What an earlier refresh token of a family gets: the newest one in the network that has it (network), or nothing, and the user signs in again (strict). */
  readonly refreshCopies?: 'network' | 'strict'
  /** Seconds after its issue in which an earlier refresh token gets the newest one. */
  readonly refreshEarlier?: number
  /** Seconds that a user stays signed in. */
  readonly sessionLifetime?: number
  /** Seconds that a user may take to sign in and decide. */
  readonly authorizationLifetime?: number
  /** Seconds within which a browser must open an authorization request that a client pushed (RFC 9126). */
  readonly pushedLifetime?: number
  /** Seconds after which a client that never got a token is removed. */
  readonly unusedClientLifetime?: number
  /** Seconds without a token after which a client that registered itself is removed, at least twice GRANTOR_REFRESH_IDLE_LIFETIME; 0: never. */
  readonly idleClientLifetime?: number
  /** Whether users can have passwords and sign in with them, on or off. Default: on, or off with GRANTOR_DELEGATE_URL. */
  readonly passwords?: 'on' | 'off'
  /** Whether each sign-in needs two factors: required, or optional, and users with an authenticator app are asked for its code. */
  readonly secondFactor?: 'optional' | 'required'
  /** Page of your application that signs users in (docs/delegated-sign-in.md). */
  readonly delegateUrl?: string
  /** What the application at GRANTOR_DELEGATE_URL does: sign-in, and this server asks for consent; or everything. */
  readonly delegate?: 'sign-in' | 'everything'
  /** Page of your application, for users who have signed out here. */
  readonly delegateSignOutUrl?: string
  /** Mail server: smtps://<user>:<password>@<host>:465, or smtp://<user>:<password>@<host>:587 with STARTTLS (docs/mail.md). Default: no mail is sent. */
  readonly smtpUrl?: string
  /** From whom mails are: Acme <no-reply@acme.test>. */
  readonly mailFrom?: string
  /** Clients without a token that are kept. If more register, the oldest are removed earlier, but not in their first 15 minutes. */
  readonly unusedClients?: number
  /** Seconds that a signing key is used, at least a day; 0: until "grantor key rotate". */
  readonly keyRotation?: number
  /** Algorithm of new signing keys: ES256, EdDSA (Ed25519), or RS256 (2048 bits, ten times slower). */
  readonly signingAlgorithm?: 'ES256' | 'EdDSA' | 'RS256'
  /** Seconds that audit events are kept, in whole hours; 0 keeps all. */
  readonly auditRetention?: number
  /** Private-use redirect URIs without a dot in the scheme that are allowed beside those of known apps: schemes, or patterns up to the query, where * matches all but / and ., and ** any; separated by commas. none: not even the known apps. Default: those of known apps (docs/real-clients.md). */
  readonly redirectSchemes?: readonly string[]
  /** Whether errors of authorization requests of unverified clients are sent by redirect, without a page. */
  readonly redirectErrors?: boolean
  /** Whether log lines of pages, issued tokens and refusals have the caller's IPv4 address, or /64 of IPv6. */
  readonly logNetworks?: boolean
  /** Whether the server may send requests to other hosts (documents and keys of clients, providers, logout notices). */
  readonly outbound?: 'on' | 'off'
  /** All ports of other hosts that the server may send these requests to, separated by commas: a list without 443 closes it. */
  readonly outboundPorts?: readonly string[]
  /** Collector that OpenTelemetry traces are sent to by OTLP over HTTP, at /v1/traces below this address. Tracing is off while it is unset. */
  readonly otelExporterOtlpEndpoint?: string
  /** Complete address of the collector. It takes precedence over OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly otelExporterOtlpTracesEndpoint?: string
  /** Headers for the collector, as name=value pairs, separated by commas, with values percent-encoded. */
  readonly otelExporterOtlpHeaders?: string
  /** Name of this service in traces. */
  readonly otelServiceName?: string
  /** Share of requests that are traced, from 0 to 1. */
  readonly traceRatio?: number
}

/** The tasks of operators (docs/administration.md), in this process. Each throws AdminError. */
export interface GrantorTasks {
  /** Show the version of the server, and what needs attention. */
  readonly 'server.show': (input?: {}) => Promise<Server>
  /** Show what all processes counted, by time: tokens, registrations, sign-ins, refusals. */
  readonly 'server.figures': (input?: {
    /** How much time before the end, without a start. */
    readonly period?: '1d' | '7d' | '90d'
    /** Figures from after this time. */
    readonly since?: string
    /** Figures up to this time; by default now. */
    readonly until?: string
    /** At most this many points, up to 600. */
    readonly points?: number
  }) => Promise<Figures>
  /** List the clients, newest first; then those whose id was chosen, in the order of their records. */
  readonly 'client.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** operator: an administrator created or adopted the client. registration: it registered. document: its client_id is the URL of its metadata document. */
    readonly source?: 'operator' | 'registration' | 'document'
    /** verified: the operator created or verified the client. known-domain: all of its domains are trusted. blocked: one of them is blocked. */
    readonly trust_level?: 'verified' | 'known-domain' | 'unverified' | 'blocked'
    /** Only clients with this text in a name, in any case. */
    readonly name?: string
    /** Only clients with this text in a name or a host, in any case. */
    readonly text?: string
    /** Only clients with a redirect URI, a logout URI or a metadata document at this host, or below it after `*.`; for an app its scheme, such as `zed:`. */
    readonly host?: string
    /** Whether the client ever got a token. */
    readonly used?: boolean
    /** Whether the client is verified. */
    readonly verified?: boolean
    /** Whether the client is disabled. */
    readonly disabled?: boolean
    /** Only clients that got no token since this time, or never. */
    readonly unused_since?: string
  }) => Promise<{
    readonly clients: readonly Client[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Show everything about a client except its secret. */
  readonly 'client.show': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<Client>
  /** Mark a client as verified. The consent page shows the mark. */
  readonly 'client.verify': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<Client>
  /** Remove a client's verified mark. */
  readonly 'client.unverify': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<Client>
  /** Disable a client: its credentials and tokens stop working. */
  readonly 'client.disable': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<EndedClient>
  /** Enable a disabled client. */
  readonly 'client.enable': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<Client>
  /** Revoke all tokens of a client. It can request new ones. */
  readonly 'client.revoke-tokens': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<EndedClient>
  /** Replace the scopes that a client is approved for. */
  readonly 'client.approve-scopes': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** Scopes that only approved clients may have, separated by spaces; empty: none. */
    readonly scope: string
  }) => Promise<ApprovedClient>
  /** Create a new secret for a client, shown once. The previous secret stays valid for a while. */
  readonly 'client.rotate-secret': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** How long the previous secret stays valid. */
    readonly overlap_seconds?: number
  }) => Promise<{
    readonly client_id: string
    readonly client_secret: string
    readonly previous_secret_until: string
  }>
  /** Give a client the secret that it has already, for example at the server that it used before. The previous secret stays valid for a while. */
  readonly 'client.set-secret': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** The secret that the client has already. It is never shown. */
    readonly client_secret: string
    /** How long the previous secret stays valid. */
    readonly overlap_seconds?: number
  }) => Promise<{
    readonly client_id: string
    /** unchanged: the client has this secret already. */
    readonly outcome: 'set' | 'unchanged'
    /** The previous secret is valid until this time; null: nothing changed. */
    readonly previous_secret_until: string | null
  }>
  /** Delete a client. Its tokens stop working. */
  readonly 'client.delete': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<{
    readonly client_id: string
    readonly deleted: true
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** Create a client that the operator manages. It is verified and never removed, and its secret is shown once. */
  readonly 'client.create': (input: {
    /** The name of the client, as the pages show it. */
    readonly client_name: string
    /** Exact redirect URIs. */
    readonly redirect_uris?: readonly string[]
    /** The grant types. The default is authorization_code and refresh_token, or client_credentials without redirect URIs. */
    readonly grant_types?: readonly ('authorization_code' | 'client_credentials' | 'refresh_token' | 'urn:ietf:params:oauth:grant-type:jwt-bearer' | 'urn:ietf:params:oauth:grant-type:device_code')[]
    /** The registered scope, separated by spaces. */
    readonly scope?: string
    /** Whether each of its token requests must have a DPoP proof (RFC 9449). Its tokens are then bound to its key. */
    readonly dpop_bound_access_tokens?: boolean
    /** Whether it must push each of its authorization requests (RFC 9126). */
    readonly require_pushed_authorization_requests?: boolean
    /** How its ID tokens are signed; by default RS256. */
    readonly id_token_signed_response_alg?: 'RS256' | 'ES256' | 'EdDSA'
    /** Seconds: `max_age` of its authorization requests that have none. */
    readonly default_max_age?: number
    /** `acr_values` of its authorization requests that name no level: `urn:grantor:acr:1fa`, `urn:grantor:acr:2fa` or `phr`. */
    readonly default_acr_values?: readonly ('urn:grantor:acr:1fa' | 'urn:grantor:acr:2fa' | 'phr')[]
    /** Whether each of its ID tokens has `auth_time`: a user whose time of sign-in is unknown signs in again. */
    readonly require_auth_time?: boolean
    /** Exact URIs to which the browser may return after a logout. */
    readonly post_logout_redirect_uris?: readonly string[]
    /** Where the server notifies it when a session of a user ends. Empty: nowhere. */
    readonly backchannel_logout_uri?: string
    /** Whether logout tokens must have a `sid`. They always have one. */
    readonly backchannel_logout_session_required?: boolean
    /** The name on pages in the language en, instead of client_name. */
    readonly 'client_name#en'?: string
    /** The name on pages in the language de, instead of client_name. */
    readonly 'client_name#de'?: string
    /** The name on pages in the language es, instead of client_name. */
    readonly 'client_name#es'?: string
    /** The name on pages in the language fr, instead of client_name. */
    readonly 'client_name#fr'?: string
    /** Its website, to which pages lead the users of a client that is verified or an operator created. */
    readonly client_uri?: string
    /** Where it begins a sign-in that started elsewhere (OpenID Connect Core 1.0 §4). Pages lead its users there instead of to client_uri. */
    readonly initiate_login_uri?: string
    /** How the client authenticates. The default is client_secret_basic, or private_key_jwt with keys. none: a public client, which has no secret. */
    readonly token_endpoint_auth_method?: 'client_secret_post' | 'client_secret_basic' | 'none' | 'private_key_jwt'
    /** The public keys as a JWK Set (RFC 7517 §5). Private keys are rejected. */
    readonly jwks?: {
      readonly keys: readonly Readonly<Record<string, unknown>>[]
    }
    /** Where the server fetches its public keys, instead of jwks. */
    readonly jwks_uri?: string
    /** The only algorithm that its assertions may have. */
    readonly token_endpoint_auth_signing_alg?: 'ES256' | 'EdDSA' | 'Ed25519' | 'PS256' | 'RS256' | 'ES384'
    /** The client_id. It never changes. By default the server makes one. */
    readonly client_id?: string
    /** The scopes that the client is approved for. */
    readonly approved_scope?: string
    /** The rules of the client. */
    readonly rules?: {
      /** implied: the users of this first-party client are not asked for consent to the scope that it is registered for, where its redirect URI uses https, or is a loopback one of a server on the same computer. */
      readonly consent?: 'asked' | 'implied'
      /** When this client may omit PKCE: never, in a request with `openid`, a `nonce` and an https redirect URI, or in every request, because it cannot do otherwise. A public client may never omit it. The default is nonce, or required for a public client. */
      readonly pkce?: 'required' | 'nonce' | 'optional'
      /** Where the client finds the claims of its scope: at the userinfo endpoint only, or also in its ID tokens. */
      readonly claims?: 'userinfo' | 'id-token'
      /** fapi2: the client must meet the FAPI 2.0 Security Profile. It needs private_key_jwt. The default is standard. */
      readonly profile?: 'standard' | 'fapi2'
      /** What an earlier refresh token of the client gets: the newest one in the network that has it (network), or nothing (strict). The default is GRANTOR_REFRESH_COPIES for a public client, and strict for another one. */
      readonly copies?: 'network' | 'strict'
      /** The claim in which the client reads the groups of users, in ID tokens and at userinfo, if it requests the scope `groups`. The default is off. */
      readonly groups?: 'off' | 'groups' | 'roles' | 'entitlements'
      /** The groups that the claim may name, each with the word that it has there after a `=`: grafana-admins=Admin. Without a word it is the id. No group: all, by their ids. */
      readonly group_words?: readonly string[]
    }
  }) => Promise<CreatedClient>
  /** Change a client that the operator manages. Members that are absent do not change. */
  readonly 'client.update': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** The name of the client, as the pages show it. */
    readonly client_name?: string
    /** Exact redirect URIs. */
    readonly redirect_uris?: readonly string[]
    /** The grant types. The default is authorization_code and refresh_token, or client_credentials without redirect URIs. */
    readonly grant_types?: readonly ('authorization_code' | 'client_credentials' | 'refresh_token' | 'urn:ietf:params:oauth:grant-type:jwt-bearer' | 'urn:ietf:params:oauth:grant-type:device_code')[]
    /** The registered scope, separated by spaces. */
    readonly scope?: string
    /** Whether each of its token requests must have a DPoP proof (RFC 9449). Its tokens are then bound to its key. */
    readonly dpop_bound_access_tokens?: boolean
    /** Whether it must push each of its authorization requests (RFC 9126). */
    readonly require_pushed_authorization_requests?: boolean
    /** How its ID tokens are signed; by default RS256. null: RS256. */
    readonly id_token_signed_response_alg?: 'RS256' | 'ES256' | 'EdDSA' | null
    /** Seconds: `max_age` of its authorization requests that have none. null: none. */
    readonly default_max_age?: number | null
    /** `acr_values` of its authorization requests that name no level: `urn:grantor:acr:1fa`, `urn:grantor:acr:2fa` or `phr`. */
    readonly default_acr_values?: readonly ('urn:grantor:acr:1fa' | 'urn:grantor:acr:2fa' | 'phr')[]
    /** Whether each of its ID tokens has `auth_time`: a user whose time of sign-in is unknown signs in again. */
    readonly require_auth_time?: boolean
    /** Exact URIs to which the browser may return after a logout. */
    readonly post_logout_redirect_uris?: readonly string[]
    /** Where the server notifies it when a session of a user ends. Empty: nowhere. */
    readonly backchannel_logout_uri?: string
    /** Whether logout tokens must have a `sid`. They always have one. */
    readonly backchannel_logout_session_required?: boolean
    /** The name on pages in the language en, instead of client_name. null: none. */
    readonly 'client_name#en'?: string | null
    /** The name on pages in the language de, instead of client_name. null: none. */
    readonly 'client_name#de'?: string | null
    /** The name on pages in the language es, instead of client_name. null: none. */
    readonly 'client_name#es'?: string | null
    /** The name on pages in the language fr, instead of client_name. null: none. */
    readonly 'client_name#fr'?: string | null
    /** Its website, to which pages lead the users of a client that is verified or an operator created. null: none. */
    readonly client_uri?: string | null
    /** Where it begins a sign-in that started elsewhere (OpenID Connect Core 1.0 §4). Pages lead its users there instead of to client_uri. null: none. */
    readonly initiate_login_uri?: string | null
  }) => Promise<Client>
  /** Replace the rules of a client that the operator manages. A rule that is absent has its default. Any other client can have the rule copies strict alone. */
  readonly 'client.set-rules': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** implied: the users of this first-party client are not asked for consent to the scope that it is registered for, where its redirect URI uses https, or is a loopback one of a server on the same computer. */
    readonly consent?: 'asked' | 'implied'
    /** When this client may omit PKCE: never, in a request with `openid`, a `nonce` and an https redirect URI, or in every request, because it cannot do otherwise. A public client may never omit it. The default is nonce, or required for a public client. */
    readonly pkce?: 'required' | 'nonce' | 'optional'
    /** Where the client finds the claims of its scope: at the userinfo endpoint only, or also in its ID tokens. */
    readonly claims?: 'userinfo' | 'id-token'
    /** fapi2: the client must meet the FAPI 2.0 Security Profile. It needs private_key_jwt. The default is standard. */
    readonly profile?: 'standard' | 'fapi2'
    /** What an earlier refresh token of the client gets: the newest one in the network that has it (network), or nothing (strict). The default is GRANTOR_REFRESH_COPIES for a public client, and strict for another one. */
    readonly copies?: 'network' | 'strict'
    /** The claim in which the client reads the groups of users, in ID tokens and at userinfo, if it requests the scope `groups`. The default is off. */
    readonly groups?: 'off' | 'groups' | 'roles' | 'entitlements'
    /** The groups that the claim may name, each with the word that it has there after a `=`: grafana-admins=Admin. Without a word it is the id. No group: all, by their ids. */
    readonly group_words?: readonly string[]
  }) => Promise<RuledClient>
  /** Replace the public keys of a client that the operator manages. From then on it authenticates with private_key_jwt. */
  readonly 'client.set-keys': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** The public keys as a JWK Set (RFC 7517 §5). Private keys are rejected. */
    readonly jwks?: {
      readonly keys: readonly Readonly<Record<string, unknown>>[]
    }
    /** Where the server fetches its public keys, instead of jwks. */
    readonly jwks_uri?: string
    /** The only algorithm that its assertions may have. */
    readonly token_endpoint_auth_signing_alg?: 'ES256' | 'EdDSA' | 'Ed25519' | 'PS256' | 'RS256' | 'ES384'
  }) => Promise<Client>
  /** Take over a registered client: from then on the operator manages it. Its id, secret and tokens stay; it no longer manages itself. */
  readonly 'client.adopt': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<Client>
  /** Create a new registration access token for a registered client, shown once. The previous one stops working. */
  readonly 'client.create-registration-token': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<{
    readonly client_id: string
    readonly registration_access_token: string
  }>
  /** Delete clients by filters, oldest first: by default those that never got a token. Clients that the operator manages only with `source`. A call examines up to 25,000 clients and deletes up to 1,000; `next` says where the next one goes on. */
  readonly 'client.purge': (input?: {
    /** At most this many clients, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only list the clients that would be deleted. */
    readonly dry_run?: boolean
    /** operator: an administrator created or adopted the client. registration: it registered. document: its client_id is the URL of its metadata document. */
    readonly source?: 'operator' | 'registration' | 'document'
    /** verified: the operator created or verified the client. known-domain: all of its domains are trusted. blocked: one of them is blocked. */
    readonly trust_level?: 'verified' | 'known-domain' | 'unverified' | 'blocked'
    /** Only clients with this text in a name, in any case. */
    readonly name?: string
    /** Only clients with this text in a name or a host, in any case. */
    readonly text?: string
    /** Only clients with a redirect URI, a logout URI or a metadata document at this host, or below it after `*.`; for an app its scheme, such as `zed:`. */
    readonly host?: string
    /** Whether the client ever got a token. */
    readonly used?: boolean
    /** Whether the client is verified. */
    readonly verified?: boolean
    /** Whether the client is disabled. */
    readonly disabled?: boolean
    /** Only clients that got no token since this time, or never. */
    readonly unused_since?: string
  }) => Promise<{
    readonly dry_run: boolean
    readonly clients: readonly PurgedClient[]
    /** How many clients the call examined. */
    readonly examined: number
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** List the initial access tokens, newest first. */
  readonly 'initial-token.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
  }) => Promise<{
    readonly initial_tokens: readonly InitialToken[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Create an initial access token, with which clients register. It is shown once. */
  readonly 'initial-token.create': (input: {
    /** The program or the person that the token is for. */
    readonly name: string
    /** How many clients can register with it. */
    readonly uses?: number
    /** How many days it is valid. */
    readonly days?: number
    /** The settings of clients that register with this token. */
    readonly template?: RegistrationTemplate
  }) => Promise<NewInitialToken>
  /** Revoke an initial access token at once. Clients that registered with it stay usable. */
  readonly 'initial-token.revoke': (input: {
    /** The id of the initial access token; not the token. */
    readonly initial_token_id: string
  }) => Promise<InitialToken>
  /** List the trusted and blocked domains. */
  readonly 'domain.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this pattern. */
    readonly before?: string
  }) => Promise<{
    readonly domains: readonly DomainRule[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Trust a domain: clients whose redirect and logout URIs are all of trusted domains are shown as known. */
  readonly 'domain.trust': (input?: {
    /** A host, `*.` and a host for all hosts below it but not the host itself, or the URL of a client metadata document. */
    readonly pattern?: string
    /** The domains of widespread clients instead of a pattern: claude.ai, vscode.dev, insiders.vscode.dev, zed.dev, chatgpt.com. */
    readonly known?: true
    /** A note for other administrators. */
    readonly note?: string
    /** The `changed_at` of the rule so far. If there is another one, nothing is changed. null: there is none. */
    readonly previous_changed_at?: string | null
  }) => Promise<{
    readonly domains: readonly SetDomainRule[]
  }>
  /** Block a domain: its clients can neither register nor start an authorization. Tokens stay valid. */
  readonly 'domain.block': (input: {
    /** A host, `*.` and a host for all hosts below it but not the host itself, or the URL of a client metadata document. */
    readonly pattern: string
    /** A note for other administrators. */
    readonly note?: string
    /** The `changed_at` of the rule so far. If there is another one, nothing is changed. null: there is none. */
    readonly previous_changed_at?: string | null
  }) => Promise<{
    readonly domains: readonly SetDomainRule[]
  }>
  /** Remove the rule of a domain, which is then neither trusted nor blocked. */
  readonly 'domain.forget': (input: {
    /** The pattern, as "domain list" shows it. */
    readonly pattern: string
    /** The `changed_at` of the rule. If there is another one, nothing is changed. */
    readonly previous_changed_at?: string
  }) => Promise<{
    readonly pattern: string
    readonly forgotten: true
  }>
  /** List the users, newest first; users with a chosen id in the order of the ids. */
  readonly 'user.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only the user with this address. */
    readonly email?: string
    /** Only users whose address begins with this, in the order of the addresses; without a next page. Other filters look at these users alone. */
    readonly email_prefix?: string
    /** Only users with all words of this text in the name or the address, in any case and without accents. Words of one or two letters alone: addresses that begin with it. A page may be empty while the index is written. Then follow "next". */
    readonly text?: string
    /** Only users with an open invitation; who never signed in, also invited ones; whom wrong passwords or codes keep out now; or who are disabled. A page may have fewer rows than its limit although more follow. Locked ones are found by the failed sign-ins of the last 15 minutes, of which each process names 25 accounts a minute in the audit. */
    readonly state?: 'invited' | 'never-signed-in' | 'locked' | 'disabled'
    /** Only members of this organization. */
    readonly organization_id?: string
    /** Only the user with this id at your application. */
    readonly subject?: string
  }) => Promise<{
    readonly users: readonly ListedUser[]
    /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
    readonly names: Readonly<Record<string, string>>
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
    /** What of the users was compared with `text`; null: nothing was. Until `next` is null, not every user was. */
    readonly searched: 'names_and_addresses' | 'beginnings_of_addresses' | null
    /** The last count of the users, whatever the filters; null: there is none yet. */
    readonly counted: {
      /** How many users there are in all. */
      readonly users: number
      /** How many of them the index of names and addresses has. */
      readonly indexed: number
      /** When the count ended. */
      readonly at: string
    } | null
  }>
  /** Show everything about a user except the password. */
  readonly 'user.show': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<WholeUser>
  /** Create a user. */
  readonly 'user.create': (input: {
    /** The address that the user signs in with. */
    readonly email: string
    /** Whether the address is known to be the user's. */
    readonly email_verified?: boolean
    /** The password, of 15 characters or more (8 if a second factor is required) that are not easy to guess (docs/users.md); by default the user has none. */
    readonly password?: string
    /** The name of the user, as the pages show it. */
    readonly name?: string
    /** The claims that apps with the scopes profile, phone and address get. */
    readonly profile?: {
      readonly given_name?: string | null
      readonly family_name?: string | null
      readonly middle_name?: string | null
      readonly nickname?: string | null
      readonly preferred_username?: string | null
      readonly gender?: string | null
      readonly birthdate?: string | null
      readonly zoneinfo?: string | null
      readonly locale?: string | null
      readonly phone_number?: string | null
      readonly profile?: string | null
      readonly picture?: string | null
      readonly website?: string | null
      readonly phone_number_verified?: boolean | null
      /** The whole address: parts that are not given are removed. */
      readonly address?: {
        readonly formatted?: string
        readonly street_address?: string
        readonly locality?: string
        readonly region?: string
        readonly postal_code?: string
        readonly country?: string
      } | null
    }
  }) => Promise<User>
  /** Set a new password, and revoke all sessions and grants of the user. */
  readonly 'user.set-password': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** The new password, of 15 characters or more (8 if a second factor is required) that are not easy to guess (docs/users.md). */
    readonly password: string
  }) => Promise<EndedUser>
  /** Change the e-mail address that a user signs in with. Sessions and grants stay. */
  readonly 'user.set-email': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** The address that the user signs in with. */
    readonly email: string
    /** Whether the address is known to be the user's. */
    readonly verified?: boolean
  }) => Promise<User>
  /** Change the name and the profile of a user. Members that are absent do not change. */
  readonly 'user.update': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** The name of the user. null: none. */
    readonly name?: string | null
    /** The claims to change; null removes a claim. */
    readonly profile?: {
      readonly given_name?: string | null
      readonly family_name?: string | null
      readonly middle_name?: string | null
      readonly nickname?: string | null
      readonly preferred_username?: string | null
      readonly gender?: string | null
      readonly birthdate?: string | null
      readonly zoneinfo?: string | null
      readonly locale?: string | null
      readonly phone_number?: string | null
      readonly profile?: string | null
      readonly picture?: string | null
      readonly website?: string | null
      readonly phone_number_verified?: boolean | null
      /** The whole address: parts that are not given are removed. */
      readonly address?: {
        readonly formatted?: string
        readonly street_address?: string
        readonly locality?: string
        readonly region?: string
        readonly postal_code?: string
        readonly country?: string
      } | null
    }
  }) => Promise<User>
  /** Create a link with which a user sets a password, or adds a passkey or a provider, as the address allows, once. An earlier link of the user stops working. */
  readonly 'user.create-link': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** The client to which the user is led afterwards: it needs initiate_login_uri or client_uri, and is verified, or an administrator created it. Absent: the user is led to GRANTOR_PRODUCT_URL. */
    readonly client_id?: string
  }) => Promise<Link>
  /** Mail the user a link, as user.create-link makes it, and show it to no administrator. Its use verifies the address, and replaces no second factor that the account confirms with. At most one mail in a minute, and five in an hour. */
  readonly 'user.send-link': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** The client to which the user is led afterwards: it needs initiate_login_uri or client_uri, and is verified, or an administrator created it. Absent: the user is led to GRANTOR_PRODUCT_URL. */
    readonly client_id?: string
  }) => Promise<SentLink>
  /** End a lock after wrong passwords or codes: they are checked again at once, by other processes within ten seconds. */
  readonly 'user.unlock': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<User>
  /** Sign a user out of all browsers, and of the apps that signed the user in there. Other tokens keep working. */
  readonly 'user.end-sessions': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<SignedOutUser>
  /** Remove the authenticator app and the recovery codes of a user who has lost them, and end the sessions. Grants stay. */
  readonly 'user.reset-second-factor': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<User>
  /** List the passkeys of a user, the oldest first. A user has at most 20. */
  readonly 'user.list-passkeys': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<{
    readonly passkeys: readonly Passkey[]
  }>
  /** Remove a passkey of a user, and end the sessions. Grants stay. It may be the last sign-in method. */
  readonly 'user.remove-passkey': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** The id of the passkey, as user.list-passkeys returns it. */
    readonly passkey_id: string
  }) => Promise<User>
  /** Disable a user: sessions and tokens of the user stop working. */
  readonly 'user.disable': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<EndedUser>
  /** Enable a disabled user. Revoked sessions and tokens stay revoked. */
  readonly 'user.enable': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<User>
  /** Revoke all sessions and tokens of a user. */
  readonly 'user.revoke-tokens': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<EndedUser>
  /** Delete a user with all sessions, memberships and consents. Tokens of the user stop working. */
  readonly 'user.delete': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<{
    readonly user_id: string
    readonly email: string | null
    readonly deleted: true
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** List the providers at which users sign in, by their ids. */
  readonly 'provider.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only providers with this text in the name, the id, the issuer or a domain, in any case. */
    readonly name?: string
    /** Only providers of this organization. */
    readonly organization_id?: string
  }) => Promise<{
    readonly providers: readonly Provider[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Show everything about a provider except the secret. */
  readonly 'provider.show': (input: {
    /** The id of the provider. It is part of the redirect URI, and never changes. */
    readonly provider_id: string
  }) => Promise<Provider>
  /** Create a provider at which users sign in. */
  readonly 'provider.create': (input: {
    /** The id of the provider. It is part of the redirect URI, and never changes. */
    readonly provider_id: string
    /** Presets the settings of a known provider. */
    readonly template: 'google' | 'entra' | 'okta' | 'keycloak' | 'dex' | 'oidc' | 'github'
    /** The issuer, exactly as in the metadata of the provider. The templates google and github have it. */
    readonly issuer?: string
    /** The client_secret of this server at the provider. It is never shown. */
    readonly client_secret: string
    /** The name of the provider on the sign-in page. */
    readonly name: string
    /** The client_id of this server at the provider. */
    readonly client_id: string
    /** How this server authenticates at the token endpoint. */
    readonly auth_method?: 'client_secret_basic' | 'client_secret_post'
    /** The scope that this server requests at the provider. */
    readonly scope?: string
    /** When an address counts as proved: none, never; claim, if email_verified is true; domains, also without it if the address is of the domains. */
    readonly email_trust?: 'none' | 'claim' | 'domains'
    /** The domains of addresses that belong to this provider only. */
    readonly domains?: readonly string[]
    /** required: accounts with an address of the domains sign in at this provider only. */
    readonly routing?: 'offered' | 'required'
    /** Whether each visitor of the sign-in page sees a button of the provider: auto, only if it has neither domains nor an organization; shown, always; hidden, never. */
    readonly listing?: 'auto' | 'shown' | 'hidden'
    /** Which persons get an account at their first sign-in: off, none; domains, those with a proved address of the domains; anybody, all. */
    readonly sign_up?: 'off' | 'domains' | 'anybody'
    /** How a person is connected to an account with the same proved address: ask, after a sign-in to the account; verified-email, at once, if the address is of the domains and verified in the account. */
    readonly link?: 'ask' | 'verified-email'
    /** Whether the provider always asks for a second factor, so that none is asked for here. */
    readonly multi_factor?: boolean
    /** The organization of which users become members. */
    readonly organization_id?: string
    /** Which users become members of the organization at a sign-in: domains, those with a proved address of the domains; anybody, all, because each person of the provider belongs to it. */
    readonly membership?: 'domains' | 'anybody'
    /** The claim with the groups of a person, in the ID token or else at userinfo: `groups`, `roles`, or a path such as `realm_access.roles`; `teams` of GitHub. */
    readonly group_claim?: string
    /** A value of the claim, `=`, and the group whose member a person with the value is: 8f3c0a52=finance. No other value counts. */
    readonly groups?: readonly string[]
    /** For how many days after a sign-in what the provider says of groups counts. */
    readonly group_days?: number
    /** The host of Microsoft Graph, which is asked for the groups of a person who has too many for a token of Entra. */
    readonly graph_host?: string
    /** Hosts of the provider, besides that of its issuer, that may have private addresses. */
    readonly private_hosts?: readonly string[]
    /** The client_id of each client that may act for persons of the provider by its identity assertions. */
    readonly assertion_clients?: readonly string[]
    /** The APIs for which the clients get tokens by identity assertions of the provider. */
    readonly assertion_apis?: readonly string[]
  }) => Promise<Provider>
  /** Change settings or the secret of a provider. Members that are absent do not change. */
  readonly 'provider.update': (input: {
    /** The id of the provider. It is part of the redirect URI, and never changes. */
    readonly provider_id: string
    /** The client_secret of this server at the provider. It is never shown. */
    readonly client_secret?: string
    /** The name of the provider on the sign-in page. */
    readonly name?: string
    /** The client_id of this server at the provider. */
    readonly client_id?: string
    /** How this server authenticates at the token endpoint. */
    readonly auth_method?: 'client_secret_basic' | 'client_secret_post'
    /** The scope that this server requests at the provider. */
    readonly scope?: string
    /** When an address counts as proved: none, never; claim, if email_verified is true; domains, also without it if the address is of the domains. */
    readonly email_trust?: 'none' | 'claim' | 'domains'
    /** The domains of addresses that belong to this provider only. */
    readonly domains?: readonly string[]
    /** required: accounts with an address of the domains sign in at this provider only. */
    readonly routing?: 'offered' | 'required'
    /** Whether each visitor of the sign-in page sees a button of the provider: auto, only if it has neither domains nor an organization; shown, always; hidden, never. */
    readonly listing?: 'auto' | 'shown' | 'hidden'
    /** Which persons get an account at their first sign-in: off, none; domains, those with a proved address of the domains; anybody, all. */
    readonly sign_up?: 'off' | 'domains' | 'anybody'
    /** How a person is connected to an account with the same proved address: ask, after a sign-in to the account; verified-email, at once, if the address is of the domains and verified in the account. */
    readonly link?: 'ask' | 'verified-email'
    /** Whether the provider always asks for a second factor, so that none is asked for here. */
    readonly multi_factor?: boolean
    /** The organization of which users become members. Memberships stay. null: none. */
    readonly organization_id?: string | null
    /** Which users become members of the organization at a sign-in: domains, those with a proved address of the domains; anybody, all, because each person of the provider belongs to it. */
    readonly membership?: 'domains' | 'anybody'
    /** The claim with the groups of a person, in the ID token or else at userinfo: `groups`, `roles`, or a path such as `realm_access.roles`; `teams` of GitHub. null: none, and no groups. */
    readonly group_claim?: string | null
    /** A value of the claim, `=`, and the group whose member a person with the value is: 8f3c0a52=finance. No other value counts. */
    readonly groups?: readonly string[]
    /** For how many days after a sign-in what the provider says of groups counts. */
    readonly group_days?: number
    /** The host of Microsoft Graph, which is asked for the groups of a person who has too many for a token of Entra. null: none. */
    readonly graph_host?: string | null
    /** Hosts of the provider, besides that of its issuer, that may have private addresses. */
    readonly private_hosts?: readonly string[]
    /** The client_id of each client that may act for persons of the provider by its identity assertions. */
    readonly assertion_clients?: readonly string[]
    /** The APIs for which the clients get tokens by identity assertions of the provider. */
    readonly assertion_apis?: readonly string[]
  }) => Promise<UpdatedProvider>
  /** Check the metadata, the keys, the secret, the lists of its assertions and, if the provider can be asked, the redirect URI of a provider. */
  readonly 'provider.test': (input: {
    /** The id of the provider. It is part of the redirect URI, and never changes. */
    readonly provider_id: string
  }) => Promise<ProviderTest>
  /** Disable a provider: users can no longer sign in there. Sessions and tokens stay valid. */
  readonly 'provider.disable': (input: {
    /** The id of the provider. It is part of the redirect URI, and never changes. */
    readonly provider_id: string
  }) => Promise<Provider>
  /** Enable a disabled provider. */
  readonly 'provider.enable': (input: {
    /** The id of the provider. It is part of the redirect URI, and never changes. */
    readonly provider_id: string
  }) => Promise<Provider>
  /** Delete a provider with the connections of users to it. Their accounts, sessions and tokens stay. */
  readonly 'provider.delete': (input: {
    /** The id of the provider. It is part of the redirect URI, and never changes. */
    readonly provider_id: string
  }) => Promise<{
    readonly provider_id: string
    readonly deleted: true
  }>
  /** List the organizations, newest first; organizations with a chosen id in the order of the ids. */
  readonly 'organization.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only organizations with this text in the name, in any case. A page examines the next 2,000 organizations, and may be empty. Then follow "next". */
    readonly name?: string
  }) => Promise<{
    readonly organizations: readonly Organization[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Create an organization, for which users and clients may act. */
  readonly 'organization.create': (input: {
    /** The name, as the consent page shows it. */
    readonly name: string
    /** The id of the organization. It never changes. By default the server makes one. */
    readonly organization_id?: string
  }) => Promise<Organization>
  /** Show an organization. */
  readonly 'organization.show': (input: {
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<Organization>
  /** Rename an organization. */
  readonly 'organization.rename': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The name, as the consent page shows it. */
    readonly name: string
  }) => Promise<Organization>
  /** Disable an organization: tokens for it are revoked, and no new tokens are issued. */
  readonly 'organization.disable': (input: {
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<EndedOrganization>
  /** Enable a disabled organization. Revoked tokens stay revoked. */
  readonly 'organization.enable': (input: {
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<Organization>
  /** Revoke all tokens for an organization. Clients can request new ones. */
  readonly 'organization.revoke-tokens': (input: {
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<EndedOrganization>
  /** Delete an organization with its memberships and installations. Tokens for it stop working. */
  readonly 'organization.delete': (input: {
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<{
    readonly organization_id: string
    readonly deleted: true
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** List the members of an organization, newest users first. */
  readonly 'member.list': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only the member with this address. */
    readonly email?: string
    /** Only members with all words of this text in the name or the address, in any case and without accents. A page examines the next 2,000 members, and may be empty. Then follow "next". */
    readonly text?: string
    /** Only members without a proved address of the domains of the providers of the organization. A page may have fewer rows than its limit, or none, although more pages follow. */
    readonly outside_domains?: true
  }) => Promise<{
    readonly members: readonly ListedMember[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Add a user to an organization. */
  readonly 'member.add': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the user, if no address is given. */
    readonly user_id?: string
    /** The address of the user, if no id is given. */
    readonly email?: string
  }) => Promise<Member>
  /** Disable a member: tokens of the member for the organization stop working. */
  readonly 'member.disable': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<EndedMember>
  /** Enable a disabled member. Revoked tokens stay revoked. */
  readonly 'member.enable': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<Member>
  /** Remove a user from an organization. Tokens of the user for the organization stop working. */
  readonly 'member.remove': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<{
    readonly organization_id: string
    readonly user_id: string
    readonly removed: true
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** Invite a person by mail to an organization: a new account gets a link, an existing account becomes a member, and gets a notice if it is in use. */
  readonly 'member.invite': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The address of the person. */
    readonly email: string
    /** The name of a new user. */
    readonly name?: string
  }) => Promise<InvitedMember>
  /** For a member of this organization alone and from the first use, without a role: Mail the user a link, as user.create-link makes it, and show it to no administrator. Its use verifies the address, and replaces no second factor that the account confirms with. At most one mail in a minute, and five in an hour. */
  readonly 'member.send-link': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<SentLink>
  /** For a member of this organization alone and from the first use, without a role: End a lock after wrong passwords or codes: they are checked again at once, by other processes within ten seconds. */
  readonly 'member.unlock': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<User>
  /** For a member of this organization alone and from the first use, without a role: Sign a user out of all browsers, and of the apps that signed the user in there. Other tokens keep working. */
  readonly 'member.end-sessions': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<SignedOutUser>
  /** For a member of this organization alone and from the first use, without a role: Remove the authenticator app and the recovery codes of a user who has lost them, and end the sessions. Grants stay. */
  readonly 'member.reset-second-factor': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<User>
  /** List the clients that may act for an organization, newest clients first. */
  readonly 'installation.list': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
  }) => Promise<{
    readonly installations: readonly Installation[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** List the organizations for which a client may act, newest organizations first. */
  readonly 'client.list-installations': (input: {
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
  }) => Promise<{
    readonly installations: readonly Installation[]
    /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
    readonly names: Readonly<Record<string, string>>
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Install a client for an organization, replacing any earlier installation. */
  readonly 'installation.install': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** The scopes that the client can have at most, separated by spaces. Each is declared by an API. Empty: none, so that APIs which check scopes refuse its tokens. */
    readonly scope: string
    /** Whether the client may also act for members. */
    readonly acts_for_members?: boolean
  }) => Promise<NewInstallation>
  /** Disable an installation: tokens of the client for the organization stop working. */
  readonly 'installation.disable': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<EndedInstallation>
  /** Enable a disabled installation. Revoked tokens stay revoked. */
  readonly 'installation.enable': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<Installation>
  /** Uninstall a client from an organization. Tokens of the client for the organization stop working. */
  readonly 'installation.remove': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
  }) => Promise<{
    readonly organization_id: string
    readonly client_id: string
    readonly removed: true
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** List the groups, the last id first, or those in which a user is. */
  readonly 'group.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only the groups in which this user is; all on one page. */
    readonly user_id?: string
    /** Only groups with this text in the id or the name, in any case. A page examines the next 2,000 groups, and may be empty. Then follow "next". */
    readonly name?: string
  }) => Promise<{
    readonly groups: readonly ListedGroup[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** List the groups, the last id first, or those in which a user is. */
  readonly 'organization-group.list': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only the groups in which this user is; all on one page. */
    readonly user_id?: string
    /** Only groups with this text in the id or the name, in any case. A page examines the next 2,000 groups, and may be empty. Then follow "next". */
    readonly name?: string
  }) => Promise<{
    readonly groups: readonly ListedGroup[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Create a group, in which users are. */
  readonly 'group.create': (input: {
    /** The id of the group, which tokens contain; of a group of an organization as in acme/finance. It never changes. */
    readonly group_id: string
    /** The name, for people. */
    readonly name?: string
    /** Whether administrators with less than write access, and those of other organizations, cannot change the accounts of the members. Only administrators of the server set it. */
    readonly protected?: boolean
  }) => Promise<Group>
  /** Create a group, in which users are. */
  readonly 'organization-group.create': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the group, which tokens contain; of a group of an organization as in acme/finance. It never changes. */
    readonly group_id: string
    /** The name, for people. */
    readonly name?: string
    /** Whether administrators with less than write access, and those of other organizations, cannot change the accounts of the members. Only administrators of the server set it. */
    readonly protected?: boolean
  }) => Promise<Group>
  /** Show a group, and what names it. */
  readonly 'group.show': (input: {
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
  }) => Promise<ShownGroup>
  /** Show a group, and what names it. */
  readonly 'organization-group.show': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
  }) => Promise<ShownGroup>
  /** Change the name of a group, or whether it is protected. What is not given stays. Members that are absent do not change. */
  readonly 'group.update': (input: {
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
    /** The name, for people. */
    readonly name?: string
    /** Whether administrators with less than write access, and those of other organizations, cannot change the accounts of the members. Only administrators of the server set it. */
    readonly protected?: boolean
    /** Do so in a protected group although an administrator for a trial, or with less than write access, prepared the account of a member, and may be able to sign in to it. */
    readonly confirmed?: boolean
  }) => Promise<Group>
  /** Change the name of a group, or whether it is protected. What is not given stays. Members that are absent do not change. */
  readonly 'organization-group.update': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
    /** The name, for people. */
    readonly name?: string
    /** Whether administrators with less than write access, and those of other organizations, cannot change the accounts of the members. Only administrators of the server set it. */
    readonly protected?: boolean
    /** Do so in a protected group although an administrator for a trial, or with less than write access, prepared the account of a member, and may be able to sign in to it. */
    readonly confirmed?: boolean
  }) => Promise<Group>
  /** Delete a group that nothing names. Its members are in it no longer. */
  readonly 'group.delete': (input: {
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
  }) => Promise<{
    readonly group_id: string
    readonly deleted: true
  }>
  /** Delete a group that nothing names. Its members are in it no longer. */
  readonly 'organization-group.delete': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
  }) => Promise<{
    readonly group_id: string
    readonly deleted: true
  }>
  /** List who says that which users are in a group, newest users first. */
  readonly 'group.list-members': (input: {
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
  }) => Promise<{
    readonly members: readonly GroupMember[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** List who says that which users are in a group, newest users first. */
  readonly 'organization-group.list-members': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
  }) => Promise<{
    readonly members: readonly GroupMember[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Add a user to a group, or change the end. A group of an organization has only its active members. */
  readonly 'group.add-member': (input: {
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
    /** Do so in a protected group although an administrator for a trial, or with less than write access, prepared the account of a member, and may be able to sign in to it. */
    readonly confirmed?: boolean
    /** The id of the user, if no address is given. */
    readonly user_id?: string
    /** The address of the user, if no id is given. */
    readonly email?: string
    /** The end: a time, or a day, with whose end in UTC it ends. By default there is none. */
    readonly until?: string
  }) => Promise<GroupMember>
  /** Add a user to a group, or change the end. A group of an organization has only its active members. */
  readonly 'organization-group.add-member': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
    /** Do so in a protected group although an administrator for a trial, or with less than write access, prepared the account of a member, and may be able to sign in to it. */
    readonly confirmed?: boolean
    /** The id of the user, if no address is given. */
    readonly user_id?: string
    /** The address of the user, if no id is given. */
    readonly email?: string
    /** The end: a time, or a day, with whose end in UTC it ends. By default there is none. */
    readonly until?: string
  }) => Promise<GroupMember>
  /** Remove a user from a group, as far as an operator said it. What a provider or your application says stays. */
  readonly 'group.remove-member': (input: {
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
    /** The id of the user. */
    readonly user_id: string
    /** Whose word is removed: operator, the default; application; or provider:<id>, which may say it again at the next sign-in. */
    readonly source?: string
  }) => Promise<{
    readonly group_id: string
    readonly user_id: string
    readonly removed: true
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** Remove a user from a group, as far as an operator said it. What a provider or your application says stays. */
  readonly 'organization-group.remove-member': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the group; of a group of an organization with that of the organization before it, as in acme/finance. */
    readonly group_id: string
    /** The id of the user. */
    readonly user_id: string
    /** Whose word is removed: operator, the default; application; or provider:<id>, which may say it again at the next sign-in. */
    readonly source?: string
  }) => Promise<{
    readonly group_id: string
    readonly user_id: string
    readonly removed: true
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** List the access rules. */
  readonly 'access-rule.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this rule. */
    readonly before?: string
    /** Only rules with this text in their id, in what they do, or in their sentence. */
    readonly text?: string
    /** Only rules that concern this client. */
    readonly client_id?: string
    /** Only rules that concern this API. */
    readonly resource?: string
  }) => Promise<{
    readonly access_rules: readonly AccessRule[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** List the access rules. */
  readonly 'organization-access-rule.list': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this rule. */
    readonly before?: string
    /** Only rules with this text in their id, in what they do, or in their sentence. */
    readonly text?: string
  }) => Promise<{
    readonly access_rules: readonly AccessRule[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Create an access rule, which takes a part of what clients can get away from some people. */
  readonly 'access-rule.create': (input: {
    /** The id of the rule. It never changes. */
    readonly rule_id: string
    /** Only these: a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
    readonly clients?: readonly string[]
    /** All except these: a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
    readonly except_clients?: readonly string[]
    /** Only these: the identifier of an API, all of it. */
    readonly apis?: readonly string[]
    /** All except these: the identifier of an API, all of it. */
    readonly except_apis?: readonly string[]
    /** Only these: the identifier of an API, = and one of its scopes. */
    readonly scopes?: readonly string[]
    /** All except these: the identifier of an API, = and one of its scopes. */
    readonly except_scopes?: readonly string[]
    /** Only openid and the other identity scopes, beside those APIs and scopes. So counts a request without any scope. */
    readonly sign_in?: boolean
    /** All except the identity scopes. */
    readonly except_sign_in?: boolean
    /** Only these: the id of a group. */
    readonly groups?: readonly string[]
    /** All except these: the id of a group. */
    readonly except_groups?: readonly string[]
    /** Only these: the id or the address of a user. */
    readonly users?: readonly string[]
    /** All except these: the id or the address of a user. */
    readonly except_users?: readonly string[]
    /** Only these: the id of an organization, for its active members; any: those of every one. */
    readonly organizations?: readonly string[]
    /** All except these: the id of an organization, for its active members; any: those of every one. */
    readonly except_organizations?: readonly string[]
    /** Gives it at this level instead of leaving it out: 2fa, two factors; phr, a passkey, or one beside another method. */
    readonly require?: 'none' | '2fa' | 'phr'
    /** With `require`: the greatest age of the authentication, in seconds. 0: any. */
    readonly max_age?: number
    /** on, the default; report: it is only logged and counted what the rule would take; off. */
    readonly state?: 'on' | 'report' | 'off'
    /** Said to the person from whom the rule takes something, in the language of the users. null: nothing is said. */
    readonly sentence?: string | null
  }) => Promise<ChangedAccessRule>
  /** Create an access rule, which takes a part of what clients can get away from some people. */
  readonly 'organization-access-rule.create': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the rule. It never changes. */
    readonly rule_id: string
    /** Only these: a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
    readonly clients?: readonly string[]
    /** All except these: a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
    readonly except_clients?: readonly string[]
    /** Only these: the identifier of an API, all of it. */
    readonly apis?: readonly string[]
    /** All except these: the identifier of an API, all of it. */
    readonly except_apis?: readonly string[]
    /** Only these: the identifier of an API, = and one of its scopes. */
    readonly scopes?: readonly string[]
    /** All except these: the identifier of an API, = and one of its scopes. */
    readonly except_scopes?: readonly string[]
    /** Only openid and the other identity scopes, beside those APIs and scopes. So counts a request without any scope. */
    readonly sign_in?: boolean
    /** All except the identity scopes. */
    readonly except_sign_in?: boolean
    /** Only these: the id of a group. */
    readonly groups?: readonly string[]
    /** All except these: the id of a group. */
    readonly except_groups?: readonly string[]
    /** Only these: the id or the address of a user. */
    readonly users?: readonly string[]
    /** All except these: the id or the address of a user. */
    readonly except_users?: readonly string[]
    /** Gives it at this level instead of leaving it out: 2fa, two factors; phr, a passkey, or one beside another method. */
    readonly require?: 'none' | '2fa' | 'phr'
    /** With `require`: the greatest age of the authentication, in seconds. 0: any. */
    readonly max_age?: number
    /** on, the default; report: it is only logged and counted what the rule would take; off. */
    readonly state?: 'on' | 'report' | 'off'
    /** Said to the person from whom the rule takes something, in the language of the users. null: nothing is said. */
    readonly sentence?: string | null
  }) => Promise<ChangedAccessRule>
  /** Show an access rule, and grants that it is about. */
  readonly 'access-rule.show': (input: {
    /** The id of the rule. It never changes. */
    readonly rule_id: string
  }) => Promise<ShownAccessRule>
  /** Show an access rule, and grants that it is about. */
  readonly 'organization-access-rule.show': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the rule. It never changes. */
    readonly rule_id: string
  }) => Promise<ShownAccessRule>
  /** Change an access rule. A list that is given replaces the one that the rule has; what is not given stays. Members that are absent do not change. */
  readonly 'access-rule.update': (input: {
    /** The id of the rule. It never changes. */
    readonly rule_id: string
    /** Only these: a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
    readonly clients?: readonly string[]
    /** All except these: a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
    readonly except_clients?: readonly string[]
    /** Only these: the identifier of an API, all of it. */
    readonly apis?: readonly string[]
    /** All except these: the identifier of an API, all of it. */
    readonly except_apis?: readonly string[]
    /** Only these: the identifier of an API, = and one of its scopes. */
    readonly scopes?: readonly string[]
    /** All except these: the identifier of an API, = and one of its scopes. */
    readonly except_scopes?: readonly string[]
    /** Only openid and the other identity scopes, beside those APIs and scopes. So counts a request without any scope. */
    readonly sign_in?: boolean
    /** All except the identity scopes. */
    readonly except_sign_in?: boolean
    /** Only these: the id of a group. */
    readonly groups?: readonly string[]
    /** All except these: the id of a group. */
    readonly except_groups?: readonly string[]
    /** Only these: the id or the address of a user. */
    readonly users?: readonly string[]
    /** All except these: the id or the address of a user. */
    readonly except_users?: readonly string[]
    /** Only these: the id of an organization, for its active members; any: those of every one. */
    readonly organizations?: readonly string[]
    /** All except these: the id of an organization, for its active members; any: those of every one. */
    readonly except_organizations?: readonly string[]
    /** Gives it at this level instead of leaving it out: 2fa, two factors; phr, a passkey, or one beside another method. */
    readonly require?: 'none' | '2fa' | 'phr'
    /** With `require`: the greatest age of the authentication, in seconds. 0: any. */
    readonly max_age?: number
    /** on, the default; report: it is only logged and counted what the rule would take; off. */
    readonly state?: 'on' | 'report' | 'off'
    /** Said to the person from whom the rule takes something, in the language of the users. null: nothing is said. */
    readonly sentence?: string | null
  }) => Promise<ChangedAccessRule>
  /** Change an access rule. A list that is given replaces the one that the rule has; what is not given stays. Members that are absent do not change. */
  readonly 'organization-access-rule.update': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the rule. It never changes. */
    readonly rule_id: string
    /** Only these: a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
    readonly clients?: readonly string[]
    /** All except these: a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
    readonly except_clients?: readonly string[]
    /** Only these: the identifier of an API, all of it. */
    readonly apis?: readonly string[]
    /** All except these: the identifier of an API, all of it. */
    readonly except_apis?: readonly string[]
    /** Only these: the identifier of an API, = and one of its scopes. */
    readonly scopes?: readonly string[]
    /** All except these: the identifier of an API, = and one of its scopes. */
    readonly except_scopes?: readonly string[]
    /** Only openid and the other identity scopes, beside those APIs and scopes. So counts a request without any scope. */
    readonly sign_in?: boolean
    /** All except the identity scopes. */
    readonly except_sign_in?: boolean
    /** Only these: the id of a group. */
    readonly groups?: readonly string[]
    /** All except these: the id of a group. */
    readonly except_groups?: readonly string[]
    /** Only these: the id or the address of a user. */
    readonly users?: readonly string[]
    /** All except these: the id or the address of a user. */
    readonly except_users?: readonly string[]
    /** Gives it at this level instead of leaving it out: 2fa, two factors; phr, a passkey, or one beside another method. */
    readonly require?: 'none' | '2fa' | 'phr'
    /** With `require`: the greatest age of the authentication, in seconds. 0: any. */
    readonly max_age?: number
    /** on, the default; report: it is only logged and counted what the rule would take; off. */
    readonly state?: 'on' | 'report' | 'off'
    /** Said to the person from whom the rule takes something, in the language of the users. null: nothing is said. */
    readonly sentence?: string | null
  }) => Promise<ChangedAccessRule>
  /** Delete an access rule. What it took is given again with the next token. */
  readonly 'access-rule.delete': (input: {
    /** The id of the rule. It never changes. */
    readonly rule_id: string
  }) => Promise<{
    readonly rule_id: string
    readonly organization_id: string | null
    readonly deleted: true
  }>
  /** Delete an access rule. What it took is given again with the next token. */
  readonly 'organization-access-rule.delete': (input: {
    /** The id of the organization. */
    readonly organization_id: string
    /** The id of the rule. It never changes. */
    readonly rule_id: string
  }) => Promise<{
    readonly rule_id: string
    readonly organization_id: string | null
    readonly deleted: true
  }>
  /** Explain which scopes a client can get for a user, and why not the others. */
  readonly 'access.explain': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** Only this API. By default all that have scopes, at most 50. */
    readonly resource?: string
    /** Only these scopes. By default all of the APIs, and openid, profile and email. */
    readonly scope?: string
  }) => Promise<AccessExplanation>
  /** Explain which scopes a client can get for a user in an organization, and why not the others. */
  readonly 'organization-access.explain': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id: string
    /** Only this API. By default all that have scopes, at most 50. */
    readonly resource?: string
    /** Only these scopes. By default all of the APIs, and openid, profile and email. */
    readonly scope?: string
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<AccessExplanation>
  /** List the declared APIs and their scopes. */
  readonly 'api.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this API. */
    readonly before?: string
    /** Only APIs with this text in the name, the identifier, or the name or sentence of a scope, in any case. */
    readonly name?: string
  }) => Promise<{
    readonly apis: readonly Api[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Show an API, its scopes and the settings of its tokens. */
  readonly 'api.show': (input: {
    /** The identifier of the API. */
    readonly resource: string
  }) => Promise<Api>
  /** Declare an API and its scopes. */
  readonly 'api.create': (input: {
    /** The identifier of the API, an absolute URI without a fragment or user information (RFC 8707). */
    readonly resource: string
    /** The name of the API, as the pages show it. */
    readonly name?: string | {
      readonly default?: string
      readonly en?: string
      readonly de?: string
      readonly es?: string
      readonly fr?: string
    }
    /** All scopes of the API. Each has a different name. */
    readonly scopes?: readonly {
      /** The name of the scope. */
      readonly name: string
      /** The text of the scope on the consent page. */
      readonly sentence: string | {
        readonly default?: string
        readonly en?: string
        readonly de?: string
        readonly es?: string
        readonly fr?: string
      }
      /** users: with consent. users-on-request: with consent, when the request names the scope. users-and-machines: also without a user, to any client. approved-clients: only to clients that are approved for the scope. */
      readonly granted_to: 'users' | 'users-on-request' | 'users-and-machines' | 'approved-clients'
      /** What the scope requires of the authentication of the user. Absent: a scope that the API has already keeps its requirement. null: nothing. */
      readonly step_up?: {
        /** 2fa: the user must have signed in with two factors. phr: with a passkey, or one beside another method. */
        readonly level: '2fa' | 'phr'
        /** The greatest age of the authentication at the request of the client, in seconds. null: any age. */
        readonly max_age?: number | null
      } | null
    }[]
    /** What scopes of the API require; those that are not named do not change. */
    readonly step_up?: readonly {
      readonly scope: string
      readonly level: 'none' | '2fa' | 'phr'
      /** The greatest age of the authentication at the request of the client, in seconds. null: any age. */
      readonly max_age?: number | null
    }[]
    /** Texts in one language, beside those that the API has: of scopes, or the name. An empty text removes the one that there is. `default`: the text of every other language. */
    readonly texts?: readonly {
      readonly language: 'default' | 'en' | 'de' | 'es' | 'fr'
      /** The scope whose sentence it is; absent: it is the name of the API. */
      readonly scope?: string
      readonly text: string
    }[]
    /** From which APIs a token can be exchanged for one of this API, with the most that it has; empty scope: from none. Those that are not named do not change. */
    readonly exchange?: readonly {
      /** The identifier of the API, an absolute URI without a fragment or user information (RFC 8707). */
      readonly resource: string
      /** Scopes, separated by spaces. */
      readonly scope: string
    }[]
    /** The claim of its tokens in which the API reads the groups of users, where it is the only API of the token. A new API reads none. */
    readonly groups?: 'off' | 'groups' | 'roles' | 'entitlements'
    /** The groups that the claim may name, each with the word that it has there after a `=`: grafana-admins=Admin. Without a word it is the id. No group: all, by their ids. */
    readonly group_words?: readonly string[]
    /** The format, lifetime, algorithm and type of its access tokens. */
    readonly tokens?: {
      /** jwt: APIs can verify the tokens locally. opaque: APIs introspect them. */
      readonly format?: 'jwt' | 'opaque'
      /** Seconds, up to 86,400. null: the lifetime of the server. */
      readonly lifetime?: number | null
      /** What signs its JWTs. null: the algorithm of the server. */
      readonly algorithm?: 'ES256' | 'EdDSA' | 'RS256' | null
      /** The `typ` of its JWTs: at+jwt (RFC 9068), or JWT for verifiers that accept no other type. */
      readonly jwt_type?: 'at+jwt' | 'JWT'
      /** Whether its tokens have `application_subject`: the id of the user at the application that signs users in. The client can read it in a JWT. */
      readonly application_subject?: boolean
      /** Whether its tokens are bound to a key of the client (DPoP). any: if the client sends a proof. dpop: always; a request without a proof is refused. bearer: never, because the API cannot check proofs. */
      readonly binding?: 'any' | 'dpop' | 'bearer'
    }
  }) => Promise<KeptApi>
  /** Change an API. Issued tokens stay valid. Members that are absent do not change. */
  readonly 'api.update': (input: {
    /** The identifier of the API. */
    readonly resource: string
    /** The name of the API; empty: none. */
    readonly name?: string | {
      readonly default?: string
      readonly en?: string
      readonly de?: string
      readonly es?: string
      readonly fr?: string
    }
    /** All scopes of the API. Each has a different name. */
    readonly scopes?: readonly {
      /** The name of the scope. */
      readonly name: string
      /** The text of the scope on the consent page. */
      readonly sentence: string | {
        readonly default?: string
        readonly en?: string
        readonly de?: string
        readonly es?: string
        readonly fr?: string
      }
      /** users: with consent. users-on-request: with consent, when the request names the scope. users-and-machines: also without a user, to any client. approved-clients: only to clients that are approved for the scope. */
      readonly granted_to: 'users' | 'users-on-request' | 'users-and-machines' | 'approved-clients'
      /** What the scope requires of the authentication of the user. Absent: a scope that the API has already keeps its requirement. null: nothing. */
      readonly step_up?: {
        /** 2fa: the user must have signed in with two factors. phr: with a passkey, or one beside another method. */
        readonly level: '2fa' | 'phr'
        /** The greatest age of the authentication at the request of the client, in seconds. null: any age. */
        readonly max_age?: number | null
      } | null
    }[]
    /** What scopes of the API require; those that are not named do not change. */
    readonly step_up?: readonly {
      readonly scope: string
      readonly level: 'none' | '2fa' | 'phr'
      /** The greatest age of the authentication at the request of the client, in seconds. null: any age. */
      readonly max_age?: number | null
    }[]
    /** Texts in one language, beside those that the API has: of scopes, or the name. An empty text removes the one that there is. `default`: the text of every other language. */
    readonly texts?: readonly {
      readonly language: 'default' | 'en' | 'de' | 'es' | 'fr'
      /** The scope whose sentence it is; absent: it is the name of the API. */
      readonly scope?: string
      readonly text: string
    }[]
    /** From which APIs a token can be exchanged for one of this API, with the most that it has; empty scope: from none. Those that are not named do not change. */
    readonly exchange?: readonly {
      /** The identifier of the API, an absolute URI without a fragment or user information (RFC 8707). */
      readonly resource: string
      /** Scopes, separated by spaces. */
      readonly scope: string
    }[]
    /** The claim of its tokens in which the API reads the groups of users, where it is the only API of the token. A new API reads none. */
    readonly groups?: 'off' | 'groups' | 'roles' | 'entitlements'
    /** The groups that the claim may name, each with the word that it has there after a `=`: grafana-admins=Admin. Without a word it is the id. No group: all, by their ids. */
    readonly group_words?: readonly string[]
    /** The format, lifetime, algorithm and type of its access tokens. */
    readonly tokens?: {
      /** jwt: APIs can verify the tokens locally. opaque: APIs introspect them. */
      readonly format?: 'jwt' | 'opaque'
      /** Seconds, up to 86,400. null: the lifetime of the server. */
      readonly lifetime?: number | null
      /** What signs its JWTs. null: the algorithm of the server. */
      readonly algorithm?: 'ES256' | 'EdDSA' | 'RS256' | null
      /** The `typ` of its JWTs: at+jwt (RFC 9068), or JWT for verifiers that accept no other type. */
      readonly jwt_type?: 'at+jwt' | 'JWT'
      /** Whether its tokens have `application_subject`: the id of the user at the application that signs users in. The client can read it in a JWT. */
      readonly application_subject?: boolean
      /** Whether its tokens are bound to a key of the client (DPoP). any: if the client sends a proof. dpop: always; a request without a proof is refused. bearer: never, because the API cannot check proofs. */
      readonly binding?: 'any' | 'dpop' | 'bearer'
    }
  }) => Promise<KeptApi>
  /** Delete an API. No more tokens are issued for it. */
  readonly 'api.delete': (input: {
    /** The identifier of the API. */
    readonly resource: string
  }) => Promise<{
    readonly resource: string
    readonly deleted: true
  }>
  /** Create the credentials with which an API introspects and exchanges tokens. Its previous credentials stop working. */
  readonly 'api.create-credentials': (input: {
    /** The identifier of the API. */
    readonly resource: string
  }) => Promise<{
    readonly resource: string
    readonly id: string
    /** Shown once. */
    readonly secret: string
  }>
  /** List grants, newest first. */
  readonly 'grant.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Without a user or an organization, a page examines the next 10,000 grants, and may be empty. Then follow "next". */
    readonly client_id?: string
    /** The id of the user. */
    readonly user_id?: string
    /** The id of the organization. */
    readonly organization_id?: string
  }) => Promise<{
    readonly grants: readonly ListedGrant[]
    /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
    readonly names: Readonly<Record<string, string>>
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Show a grant. */
  readonly 'grant.show': (input: {
    /** The id of the grant. */
    readonly grant_id: string
  }) => Promise<ShownGrant>
  /** Revoke a grant with all of its tokens. The client must ask the user again. */
  readonly 'grant.revoke': (input: {
    /** The id of the grant. */
    readonly grant_id: string
  }) => Promise<EndedGrant>
  /** List grants for an organization, newest first. */
  readonly 'organization.list-grants': (input: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Without a user or an organization, a page examines the next 10,000 grants, and may be empty. Then follow "next". */
    readonly client_id?: string
    /** The id of the user. */
    readonly user_id?: string
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<{
    readonly grants: readonly ListedGrant[]
    /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
    readonly names: Readonly<Record<string, string>>
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Show a grant for an organization. */
  readonly 'organization.show-grant': (input: {
    /** The id of the grant. */
    readonly grant_id: string
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<ShownGrant>
  /** Revoke a grant for an organization with all of its tokens. */
  readonly 'organization.revoke-grant': (input: {
    /** The id of the grant. */
    readonly grant_id: string
    /** The id of the organization. */
    readonly organization_id: string
  }) => Promise<EndedGrant>
  /** List the browsers in which users are signed in, newest first. A page may have fewer rows than its limit even if more rows follow. */
  readonly 'session.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** The id of the user. */
    readonly user_id?: string
  }) => Promise<{
    readonly sessions: readonly Session[]
    /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
    readonly names: Readonly<Record<string, string>>
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Sign a user out of one browser, and of the apps that signed the user in there. Other tokens keep working. */
  readonly 'session.end': (input: {
    /** The id of the session; not the cookie. */
    readonly session_id: string
  }) => Promise<Session>
  /** List the published signing keys and their states. */
  readonly 'key.list': (input?: {}) => Promise<{
    readonly keys: readonly {
      readonly kid: string
      /** What the key signs: access tokens, or ID tokens. */
      readonly purpose: 'access' | 'id'
      readonly algorithm: 'ES256' | 'EdDSA' | 'RS256'
      readonly created_at: string
      /** The key signs from this time, until the next key does. */
      readonly active_from: string
      /** What the key is used for now. */
      readonly state: string
    }[]
  }>
  /** Create the next signing key. It is published at once and signs a day later. */
  readonly 'key.rotate': (input?: {
    /** Sign with the key in ten seconds, even though verifiers may not have fetched it. Use it when the current key leaked. */
    readonly now?: boolean
    /** What the key signs: access tokens, or ID tokens. */
    readonly purpose?: 'access' | 'id'
    /** The algorithm of the key; by default the algorithm of the server, and RS256 for ID tokens. */
    readonly algorithm?: 'ES256' | 'EdDSA' | 'RS256'
  }) => Promise<Key>
  /** Withdraw a signing key that leaked: tokens that it signed are rejected from now on. */
  readonly 'key.retire': (input: {
    /** The key's id. */
    readonly kid: string
  }) => Promise<{
    readonly kid: string
    readonly retired: true
  }>
  /** Confirm that the clock of this machine is right, after it stepped or the server was stopped for a long time. */
  readonly 'clock.confirm': (input?: {}) => Promise<{
    /** The time by the clock that decides. */
    readonly time: string
    /** database: the clock of the database decides, and the confirmation changes nothing. */
    readonly decided_by: 'operator' | 'database'
  }>
  /** Send a mail that says that mail works, at once, and return the answer of the mail server. */
  readonly 'mail.test': (input: {
    /** To whom the mail is sent. */
    readonly address: string
  }) => Promise<{
    readonly address: string
    /** Whether the mail server accepted the mail. It may still report a bounce later. */
    readonly accepted: boolean
    /** Why not, as in docs/mail.md. */
    readonly reason: string | null
    /** What the mail server answered, or what went wrong. */
    readonly answer: string
  }>
  /** Show the owner of a token, and whether it is active. */
  readonly 'token.inspect': (input: {
    /** An access token or a refresh token. */
    readonly token: string
  }) => Promise<TokenInspection>
  /** Revoke a token, or its grant with all tokens of the grant. */
  readonly 'token.revoke': (input: {
    /** An access token or a refresh token. */
    readonly token: string
    /** Revoke the grant of an access token too. The grant of a refresh token is always revoked. */
    readonly family?: boolean
  }) => Promise<{
    readonly revoked: 'access' | 'family'
    readonly token_id: string | null
    readonly grant_id: string | null
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** Revoke all sessions and tokens of all users and clients. Users sign in again, and clients request new tokens. */
  readonly 'token.revoke-all': (input: {
    /** Confirms the task. */
    readonly confirm: 'everything'
  }) => Promise<{
    /** The not-before time: sessions and tokens issued earlier are revoked, on every node within a second. */
    readonly not_before: string
    /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
    readonly jwt_accepted_until: string | null
    /** The same in seconds from this answer. */
    readonly jwt_accepted_for_seconds: number
  }>
  /** List the administrators' credentials, newest first. */
  readonly 'admin.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
  }) => Promise<{
    readonly credentials: readonly AdminCredential[]
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Create credentials for an administrator. The token is shown once. */
  readonly 'admin.create': (input: {
    /** The owner or the purpose of the credentials. */
    readonly name: string
    /** read: everything except secrets. support: see users, their sessions, apps and events; invite them, mail links, unlock, end sessions, revoke grants, reset the app, disable and enable; no account with a role. users: also change, delete and hand links of users, and members. write: everything. metrics: only /metrics, so not with organization_id. */
    readonly access: 'read' | 'support' | 'users' | 'write' | 'metrics'
    /** The one organization that the credentials are for; by default the whole server. */
    readonly organization_id?: string
    /** How many days the credentials are valid. */
    readonly days?: number
  }) => Promise<NewAdminCredential>
  /** Revoke the credentials of an administrator at once. */
  readonly 'admin.revoke': (input: {
    /** The id of the credentials; not the token. */
    readonly credential_id: string
  }) => Promise<AdminCredential>
  /** List the users who may use the console, newest users first. */
  readonly 'role.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
  }) => Promise<{
    readonly roles: readonly ListedRole[]
    /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
    readonly names: Readonly<Record<string, string>>
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Let a user use the console. Another role of the user is replaced, and a link from before ends. */
  readonly 'role.set': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** read: everything except secrets. support: see users, their sessions, apps and events; invite them, mail links, unlock, end sessions, revoke grants, reset the app, disable and enable; no account with a role. users: also change, delete and hand links of users, and members. write: everything. */
    readonly access: 'read' | 'support' | 'users' | 'write'
    /** The one organization that the role is for, whose grants the user sees; by default the whole server. */
    readonly organization_id?: string
    /** Whether the role counts only while the issuer is a loopback address, for a trial. */
    readonly loopback_only?: boolean
    /** Set a role that lasts although an administrator for a trial, or with less than write access, prepared the account, and may be able to sign in to it. */
    readonly confirmed?: boolean
  }) => Promise<SetRole>
  /** End the role of a user: the console refuses the next request. */
  readonly 'role.remove': (input: {
    /** The id of the user. */
    readonly user_id: string
  }) => Promise<{
    readonly user_id: string
    readonly removed: true
  }>
  /** Create the credentials of the application that signs users in. Its previous credentials stop working. The token is shown once. */
  readonly 'delegate.create-credentials': (input?: {
    /** How many days the credentials are valid. */
    readonly days?: number
  }) => Promise<NewDelegateCredential>
  /** Show what a person has to decide. */
  readonly 'interaction.show': (input: {
    /** The value of `interaction` in the address of your page. */
    readonly interaction: string
    /** Your id of the person, which never becomes that of another person: 1 to 255 characters of ASCII. */
    readonly subject?: string
  }) => Promise<Interaction>
  /** Report who the person is, and whether the client may have access. A repeated request gets the same answer. */
  readonly 'interaction.accept': (input: {
    /** The value of `interaction` in the address of your page. */
    readonly interaction: string
    /** Your id of the person, which never becomes that of another person: 1 to 255 characters of ASCII. */
    readonly subject: string
    /** allow: the person has consented on your page. ask: the consent page of this server follows. */
    readonly decision: 'allow' | 'ask'
    /** The e-mail address of the person. An address that another account has is not used. */
    readonly email?: string
    /** Whether you know that the address is that of the person. */
    readonly email_verified?: boolean
    /** The name of the person, as pages show it. */
    readonly name?: string
    /** The groups in which the person is, as your application says it: those of earlier answers that are not in the list end. Without it they stay. */
    readonly groups?: readonly string[]
    /** The organization for which the person consents. Without it, a person who belongs to organizations chooses on the consent page of this server. null: none. */
    readonly organization_id?: string | null
    /** The part of the requested scope that the person allows; by default all of it. */
    readonly scope?: string
    /** When the person authenticated. Without it, the time is unknown, or with sign_in_after that of your answer. */
    readonly authenticated_at?: string
    /** Whether the person confirmed on your page that the device of the request is an own one. Without it, the consent page of this server follows for a device. */
    readonly own_device?: boolean
    /** Whether the person authenticated with two factors at that time. */
    readonly multi_factor?: boolean
    /** How long the browser stays signed in at this server, at most GRANTOR_SESSION_LIFETIME. */
    readonly remember_seconds?: number
  }) => Promise<AcceptedInteraction>
  /** End the request of the client with an error. */
  readonly 'interaction.reject': (input: {
    /** The value of `interaction` in the address of your page. */
    readonly interaction: string
    /** The error for the client (RFC 6749 §4.1.2.1). access_denied: the person declined. */
    readonly error?: 'access_denied' | 'login_required' | 'interaction_required' | 'unmet_authentication_requirements' | 'temporarily_unavailable'
  }) => Promise<AnsweredInteraction>
  /** End all sessions and grants of a person, for example because you disabled the account. */
  readonly 'subject.revoke-tokens': (input: {
    /** Your id of the person, which never becomes that of another person: 1 to 255 characters of ASCII. */
    readonly subject: string
  }) => Promise<{
    readonly subject: string
    readonly revoked: true
  }>
  /** List the sets of "grantor apply" and their records. */
  readonly 'apply.list': (input?: {}) => Promise<{
    readonly sets: readonly AppliedSet[]
  }>
  /** Begin, continue or finish a run of "grantor apply", and change which records are those of its set. */
  readonly 'apply.record': (input: {
    /** The name of the set. */
    readonly set: string
    /** begin: refused while another run of the set is active. continue, finish: refused after another run began. */
    readonly step: 'begin' | 'continue' | 'finish'
    /** The mark of the set, as the previous answer has it; null: there is no such set. */
    readonly mark: string | null
    /** Records that belong to the set from now on. */
    readonly add?: readonly {
      readonly kind: 'organization' | 'group' | 'api' | 'domain' | 'provider' | 'client' | 'access-rule'
      readonly key: string
      /** When the record was created, as its document has it. A record with the same key and another time is another record. */
      readonly created?: string
    }[]
    /** Records that no longer belong to it. */
    readonly remove?: readonly {
      readonly kind: 'organization' | 'group' | 'api' | 'domain' | 'provider' | 'client' | 'access-rule'
      readonly key: string
      /** When the record was created, as its document has it. A record with the same key and another time is another record. */
      readonly created?: string
    }[]
    /** What the run did, for the audit. */
    readonly counts?: {
      readonly created: number
      readonly updated: number
      readonly deleted: number
      readonly complete: boolean
    }
  }) => Promise<AppliedSet>
  /** Remove a set of "grantor apply". Its records stay, and another set can take them over. */
  readonly 'apply.release': (input: {
    /** The name of the set. */
    readonly set: string
  }) => Promise<{
    readonly set: string
    /** How many records it had. */
    readonly released: number
  }>
  /** List audit events, newest first. A page may have fewer rows than its limit even if more rows follow. */
  readonly 'audit.list': (input?: {
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only events of this name, or of all names that begin with it, such as `client.`; a part of a name ends with a dot. */
    readonly event?: 'access-rule.' | 'admin-credential.' | 'admin.' | 'api.' | 'app.' | 'apply.' | 'assertion.' | 'audit.' | 'authorization.' | 'client.' | 'clock.' | 'code.' | 'console.' | 'credential.' | 'device.' | 'domain.' | 'exchange.' | 'grant.' | 'group.' | 'identity.' | 'import.' | 'initial-token.' | 'installation.' | 'interaction.' | 'introspection.' | 'key.' | 'link.' | 'logout.' | 'mail.' | 'member.' | 'organization.' | 'passkey.' | 'provider.' | 'recovery-code.' | 'recovery-codes.' | 'refresh-token.' | 'revocation.' | 'role.' | 'scope.' | 'second-factor.' | 'secret.' | 'server.' | 'session.' | 'sign-in.' | 'token.' | 'tokens.' | 'user.' | 'client.registered' | 'client.updated' | 'client.document-added' | 'client.document-changed' | 'client.created' | 'client.adopted' | 'client.rules-set' | 'client.registration-token-created' | 'client.deleted' | 'client.verified' | 'client.unverified' | 'client.disabled' | 'client.enabled' | 'client.secret-rotated' | 'client.secret-set' | 'client.secret-upgraded' | 'client.scope-approved' | 'client.tokens-revoked' | 'client.authentication-failed' | 'initial-token.created' | 'initial-token.revoked' | 'authorization.approved' | 'authorization.denied' | 'scope.refused' | 'code.replayed' | 'code.burned' | 'code.presented-by-another-client' | 'device.presented-by-another-client' | 'refresh-token.reused' | 'refresh-token.parted' | 'assertion.refused' | 'refresh-token.presented-by-another-client' | 'credential.presented-with-another-key' | 'revocation.requested-by-another-client' | 'grant.revoked' | 'token.revoked' | 'introspection.inactive' | 'exchange.refused' | 'tokens.issued' | 'user.created' | 'user.imported' | 'user.import-updated' | 'user.password-changed' | 'user.password-upgraded' | 'user.email-changed' | 'user.renamed' | 'user.updated' | 'user.disabled' | 'user.enabled' | 'user.deleted' | 'user.tokens-revoked' | 'user.unlocked' | 'user.provisioned' | 'session.started' | 'session.ended' | 'sign-in.failed' | 'second-factor.enabled' | 'second-factor.disabled' | 'passkey.added' | 'passkey.removed' | 'passkey.counter-back' | 'passkey.backup-changed' | 'user.password-removed' | 'second-factor.refused' | 'recovery-codes.replaced' | 'recovery-code.used' | 'mail.undelivered' | 'logout.delivered' | 'logout.undelivered' | 'link.created' | 'link.used' | 'identity.linked' | 'identity.unlinked' | 'interaction.answered' | 'app.removed' | 'organization.created' | 'organization.renamed' | 'organization.disabled' | 'organization.enabled' | 'organization.tokens-revoked' | 'organization.deleted' | 'member.added' | 'member.disabled' | 'member.enabled' | 'member.removed' | 'access-rule.created' | 'access-rule.updated' | 'access-rule.deleted' | 'group.created' | 'group.updated' | 'group.deleted' | 'group.member-added' | 'group.member-changed' | 'group.member-removed' | 'group.member-left-out' | 'installation.added' | 'installation.replaced' | 'installation.disabled' | 'installation.enabled' | 'installation.removed' | 'provider.created' | 'provider.updated' | 'provider.disabled' | 'provider.enabled' | 'provider.deleted' | 'provider.failed' | 'server.tokens-revoked' | 'server.issuer-changed' | 'server.backed-up' | 'server.restored' | 'server.went-back' | 'server.confirmed' | 'server.exported' | 'server.imported' | 'import.finished' | 'server.reopened' | 'api.created' | 'api.updated' | 'api.credentials-set' | 'api.deleted' | 'domain.trusted' | 'domain.blocked' | 'domain.forgotten' | 'apply.finished' | 'apply.released' | 'key.added' | 'key.removed' | 'secret.rotated' | 'clock.confirmed' | 'admin-credential.created' | 'admin-credential.revoked' | 'admin.refused' | 'console.refused' | 'role.set' | 'role.removed' | 'audit.head' | 'audit.swept' | 'audit.unreadable'
    /** Only the events of a question: sign-ins that failed, what people changed, clients, or what may be an attack or is about rights and keys. */
    readonly view?: 'failed-sign-ins' | 'changes' | 'clients' | 'security'
    /** The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too. */
    readonly client_id?: string
    /** The id of the user. */
    readonly user_id?: string
    /** The id of the organization. */
    readonly organization_id?: string
    /** Only what this administrator or user did: command-line, library, server, or the id of a user or of credentials. Without an administrator, the user of the event did it. */
    readonly actor?: string
    /** Only events recorded at this time or later. */
    readonly since?: string
    /** Only events recorded before this time. */
    readonly until?: string
    /** Only events of this request. There is no index for it: limit the search with since and until. */
    readonly request_id?: string
  }) => Promise<{
    readonly events: readonly AuditEntry[]
    /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
    readonly names: Readonly<Record<string, string>>
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** List the audit events about a user, newest first. A page may have fewer rows even if more follow. */
  readonly 'user.list-events': (input: {
    /** The id of the user. */
    readonly user_id: string
    /** At most this many rows, up to 1000. */
    readonly limit?: number
    /** Continue after this row: the `next` of the previous page. */
    readonly before?: string
    /** Only the events of a question: sign-ins that failed, what people changed, clients, or what may be an attack or is about rights and keys. */
    readonly view?: 'failed-sign-ins' | 'changes' | 'clients' | 'security'
    /** Only events recorded at this time or later. */
    readonly since?: string
    /** Only events recorded before this time. */
    readonly until?: string
  }) => Promise<{
    readonly events: readonly AuditEntry[]
    /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
    readonly names: Readonly<Record<string, string>>
    /** Give this as `before` to get the next page; null: this is the last page. */
    readonly next: string | null
  }>
  /** Verify the whole audit, and list every link that was changed or removed. */
  readonly 'audit.verify': (input?: {
    /** Links that must exist, from the audit.head lines of a log. */
    readonly head?: readonly string[]
  }) => Promise<{
    readonly chains: number
    readonly links: number
    readonly events: number
    readonly faults: readonly AuditFault[]
  }>
}

export interface AcceptedInteraction {
  /** Redirect the browser of the person to this address. */
  readonly redirect_to: string
  /** The id of the person here, which tokens have as `sub`. null: the account was deleted since the first answer. */
  readonly user_id: string | null
}

export interface AccessExplanation {
  readonly client_id: string
  readonly user_id: string
  readonly organization_id: string | null
  readonly ways: readonly ExplainedWay[]
  /** There are more APIs than are explained here. Name one. */
  readonly more_apis: boolean
  /** The groups of the user, and those that ended in the last 30 days. */
  readonly groups: readonly PersonGroup[]
  /** The newest 20 grants of the user for the client. */
  readonly grants: readonly ExplainedGrant[]
}

export interface AccessRule {
  readonly rule_id: string
  /** The organization that has the rule; null: the server has it. */
  readonly organization_id: string | null
  /** What the rule does, as one sentence. */
  readonly reads: string
  /** a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>. */
  readonly clients: readonly string[]
  readonly except_clients: readonly string[]
  /** the identifier of an API, all of it. */
  readonly apis: readonly string[]
  readonly except_apis: readonly string[]
  /** the identifier of an API, = and one of its scopes. */
  readonly scopes: readonly string[]
  readonly except_scopes: readonly string[]
  readonly sign_in: boolean
  readonly except_sign_in: boolean
  /** the id of a group. */
  readonly groups: readonly string[]
  readonly except_groups: readonly string[]
  /** the id of an organization, for its active members; any: those of every one. */
  readonly organizations: readonly string[]
  readonly except_organizations: readonly string[]
  /** the id or the address of a user. */
  readonly users: readonly string[]
  readonly except_users: readonly string[]
  readonly require: 'none' | '2fa' | 'phr'
  readonly max_age: number | null
  readonly state: 'on' | 'report' | 'off'
  readonly sentence: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface AdminCredential {
  readonly credential_id: string
  readonly name: string
  /** delegate: only the sign-ins of your application, by the token of "grantor delegate create-credentials". */
  readonly access: 'read' | 'support' | 'users' | 'write' | 'metrics' | 'delegate'
  /** The one organization that the credentials are for; null: the whole server. */
  readonly organization_id: string | null
  readonly created_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
}

export interface AnsweredInteraction {
  /** Redirect the browser of the person to this address. */
  readonly redirect_to: string
}

export interface Api {
  readonly resource: string
  readonly name: string | TextsByLanguage | null
  readonly scopes: readonly ApiScope[]
  readonly tokens: ApiTokens
  /** The claim of its tokens in which the API reads the groups of users. */
  readonly groups: 'off' | 'groups' | 'roles' | 'entitlements'
  /** The groups that the claim may name, each with the word that it has there after a `=`: grafana-admins=Admin. Without a word it is the id. No group: all, by their ids. */
  readonly group_words: readonly string[]
  /** The APIs whose tokens can be exchanged for tokens of this API, and the most that they have. */
  readonly exchange: readonly {
    readonly resource: string
    readonly scope: string
  }[]
  /** The id that the API introspects tokens with; null: it has no credentials. */
  readonly introspection_id: string | null
  readonly created_at: string
}

export interface ApiScope {
  readonly name: string
  /** The text of the scope on the consent page. */
  readonly sentence: string | TextsByLanguage
  /** users: with consent. users-on-request: with consent, when the request names the scope. users-and-machines: also without a user, to any client. approved-clients: only to clients that are approved for the scope. */
  readonly granted_to: 'users' | 'users-on-request' | 'users-and-machines' | 'approved-clients'
  /** What the scope requires of the authentication of the user; null: nothing. */
  readonly step_up: {
    /** 2fa: the user must have signed in with two factors. phr: with a passkey, or one beside another method. */
    readonly level: '2fa' | 'phr'
    /** The greatest age of the authentication at the request of the client, in seconds; null: any. */
    readonly max_age: number | null
  } | null
}

export interface ApiTokens {
  /** jwt: APIs can verify the tokens locally. opaque: APIs introspect them. */
  readonly format: 'jwt' | 'opaque'
  /** Seconds; null: the lifetime of the server. */
  readonly lifetime: number | null
  /** What signs its JWTs. */
  readonly algorithm: 'ES256' | 'EdDSA' | 'RS256' | null
  /** The `typ` of its JWTs: at+jwt (RFC 9068), or JWT for verifiers that accept no other type. */
  readonly jwt_type: 'at+jwt' | 'JWT'
  /** Whether its tokens have `application_subject`: the id of the user at the application that signs users in. The client can read it in a JWT. */
  readonly application_subject: boolean
  /** Whether its tokens are bound to a key of the client (DPoP). any: if the client sends a proof. dpop: always; a request without a proof is refused. bearer: never, because the API cannot check proofs. */
  readonly binding: 'any' | 'dpop' | 'bearer'
}

export interface AppliedSet {
  readonly set: string
  /** Changes whenever the set does. */
  readonly mark: string
  /** A run that begins before this time is refused, because another one is active; null: none is. */
  readonly running_until: string | null
  readonly records: readonly {
    readonly kind: 'organization' | 'group' | 'api' | 'domain' | 'provider' | 'client' | 'access-rule'
    readonly key: string
    /** When the record was created, as its document has it. A record with the same key and another time is another record. */
    readonly created?: string
  }[]
}

export interface ApprovedClient extends Client {
  /** What the approval may be mistaken about; null: nothing. */
  readonly notice: string | null
}

export interface AuditEntry {
  readonly id: string
  readonly recorded_at: string
  /** The name of an event in docs/audit.md. */
  readonly event: string
  readonly client_id: string | null
  readonly user_id: string | null
  readonly organization_id: string | null
  readonly grant_id: string | null
  /** The administrator: command-line, library, server (what a server did by itself), or the id of the credentials or of a user with a role. */
  readonly actor: string | null
  /** The id of the request of a person or an administrator, as in the log. */
  readonly request_id: string | null
  readonly details: Readonly<Record<string, string | number | boolean>>
}

export interface AuditFault {
  readonly kind: 'changed' | 'missing' | 'cut-off' | 'chain-missing'
  readonly link: string | null
  readonly chain: string
  readonly sequence: number
  readonly through: number
  readonly what: string
}

export interface ChangedAccessRule extends AccessRule {
  /** What the rule names and the server does not know; null: nothing. */
  readonly notice: string | null
  /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
  readonly jwt_accepted_until: string | null
  /** The same in seconds from this answer. */
  readonly jwt_accepted_for_seconds: number
}

export interface Client {
  /** The `client_id`. Where `document_url` is not null, it is the id of the record, and `document_url` is the `client_id`. */
  readonly client_id: string
  /** Seconds since the epoch. */
  readonly client_id_issued_at: number
  /** operator: an administrator created or adopted the client. registration: it registered. document: its client_id is the URL of its metadata document. */
  readonly source: 'operator' | 'registration' | 'document'
  /** The URL of the metadata document. */
  readonly document_url: string | null
  readonly document_fetched_at: string | null
  /** The document is not fetched again before this time. */
  readonly document_fresh_until: string | null
  /** verified: the operator created or verified the client. known-domain: all of its domains are trusted. blocked: one of them is blocked. */
  readonly trust_level: 'verified' | 'known-domain' | 'unverified' | 'blocked'
  readonly rules: {
    /** implied: the users of this first-party client are not asked for consent to the scope that it is registered for, where its redirect URI uses https, or is a loopback one of a server on the same computer. */
    readonly consent: 'asked' | 'implied'
    /** When this client may omit PKCE: never, in a request with `openid`, a `nonce` and an https redirect URI, or in every request, because it cannot do otherwise. A public client may never omit it. */
    readonly pkce: 'required' | 'nonce' | 'optional'
    /** Where the client finds the claims of its scope: at the userinfo endpoint only, or also in its ID tokens. */
    readonly claims: 'userinfo' | 'id-token'
    /** fapi2: the client must meet the FAPI 2.0 Security Profile. It needs private_key_jwt. */
    readonly profile: 'standard' | 'fapi2'
    /** What an earlier refresh token of the client gets: the newest one in the network that has it (network), or nothing (strict). The default is GRANTOR_REFRESH_COPIES for a public client, and strict for another one. */
    readonly copies?: 'network' | 'strict'
    /** The claim in which the client reads the groups of users, in ID tokens and at userinfo, if it requests the scope `groups`. The default is off. */
    readonly groups?: 'off' | 'groups' | 'roles' | 'entitlements'
    /** The groups that the claim may name, each with the word that it has there after a `=`: grafana-admins=Admin. Without a word it is the id. No group: all, by their ids. */
    readonly group_words?: readonly string[]
  }
  /** What an earlier refresh token of the client gets: by its rule; `strict`, because it authenticates; or `server`, what GRANTOR_REFRESH_COPIES says. */
  readonly refresh_copies: 'network' | 'strict' | 'server'
  readonly has_secret: boolean
  /** The previous secret is valid until this time. */
  readonly previous_secret_until: string | null
  /** Whether the client has a registration access token (RFC 7592). */
  readonly manages_itself: boolean
  /** The scopes that the client is approved for. */
  readonly approved_scope: string
  /** When the client first got a token; null: never. */
  readonly used_at: string | null
  /** When the client last got a token, to the minute; null: never. */
  readonly last_used_at: string | null
  readonly verified_at: string | null
  readonly disabled_at: string | null
  /** The not-before time: tokens of the client issued earlier are revoked. */
  readonly not_before: string | null
  /** Exact redirect URIs. */
  readonly redirect_uris: readonly string[]
  /** How the client authenticates at the token endpoint. */
  readonly token_endpoint_auth_method: string
  /** The only algorithm that its assertions may have. */
  readonly token_endpoint_auth_signing_alg?: string
  /** The public keys of a client with `private_key_jwt`. */
  readonly jwks?: {
    readonly keys: readonly Readonly<Record<string, unknown>>[]
  }
  /** Where the server fetches its public keys, instead of jwks. */
  readonly jwks_uri?: string
  /** The grant types that it may use. */
  readonly grant_types: readonly string[]
  /** `code`, if it may use the authorization code. */
  readonly response_types: readonly string[]
  /** Whether it must push each of its authorization requests (RFC 9126). */
  readonly require_pushed_authorization_requests?: boolean
  /** The registered scope, separated by spaces. Absent: only what its users and the APIs allow limits it (decision 0006). */
  readonly scope?: string
  /** Whether each of its token requests must have a DPoP proof (RFC 9449). Its tokens are then bound to its key. */
  readonly dpop_bound_access_tokens?: boolean
  /** How its ID tokens are signed; by default RS256. */
  readonly id_token_signed_response_alg?: string
  /** Seconds: `max_age` of its authorization requests that have none. */
  readonly default_max_age?: number
  /** `acr_values` of its authorization requests that name no level: `urn:grantor:acr:1fa`, `urn:grantor:acr:2fa` or `phr`. */
  readonly default_acr_values?: readonly string[]
  /** Whether each of its ID tokens has `auth_time`: a user whose time of sign-in is unknown signs in again. */
  readonly require_auth_time?: boolean
  /** Exact URIs to which the browser may return after a logout. */
  readonly post_logout_redirect_uris?: readonly string[]
  /** Where the server notifies it when a session of a user ends. */
  readonly backchannel_logout_uri?: string
  /** Whether logout tokens must have a `sid`. They always have one. */
  readonly backchannel_logout_session_required?: boolean
  /** The name of the client, as the pages show it. */
  readonly client_name?: string
  /** The name on pages in the language en, instead of client_name. */
  readonly 'client_name#en'?: string
  /** The name on pages in the language de, instead of client_name. */
  readonly 'client_name#de'?: string
  /** The name on pages in the language es, instead of client_name. */
  readonly 'client_name#es'?: string
  /** The name on pages in the language fr, instead of client_name. */
  readonly 'client_name#fr'?: string
  /** Its website, to which pages lead the users of a client that is verified or an operator created. */
  readonly client_uri?: string
  /** Where it begins a sign-in that started elsewhere (OpenID Connect Core 1.0 §4). Pages lead its users there instead of to client_uri. */
  readonly initiate_login_uri?: string
  /** Its logo, which no page loads. */
  readonly logo_uri?: string
  /** Its terms of service. */
  readonly tos_uri?: string
  /** Its privacy policy. */
  readonly policy_uri?: string
  /** What program it is, the same for all copies. */
  readonly software_id?: string
  /** The version of the program. */
  readonly software_version?: string
  /** Addresses of those who are responsible for it. */
  readonly contacts?: readonly string[]
}

export interface CreatedClient {
  readonly client_id: string
  /** Shown once. Absent for a public client and a client with keys. */
  readonly client_secret?: string
  /** Seconds since the epoch. */
  readonly client_id_issued_at: number
  /** 0: the secret does not expire. */
  readonly client_secret_expires_at?: 0
  /** Exact redirect URIs. */
  readonly redirect_uris: readonly string[]
  /** How the client authenticates at the token endpoint. */
  readonly token_endpoint_auth_method: string
  /** The only algorithm that its assertions may have. */
  readonly token_endpoint_auth_signing_alg?: string
  /** The public keys of a client with `private_key_jwt`. */
  readonly jwks?: {
    readonly keys: readonly Readonly<Record<string, unknown>>[]
  }
  /** Where the server fetches its public keys, instead of jwks. */
  readonly jwks_uri?: string
  /** The grant types that it may use. */
  readonly grant_types: readonly string[]
  /** `code`, if it may use the authorization code. */
  readonly response_types: readonly string[]
  /** Whether it must push each of its authorization requests (RFC 9126). */
  readonly require_pushed_authorization_requests?: boolean
  /** The registered scope, separated by spaces. Absent: only what its users and the APIs allow limits it (decision 0006). */
  readonly scope?: string
  /** Whether each of its token requests must have a DPoP proof (RFC 9449). Its tokens are then bound to its key. */
  readonly dpop_bound_access_tokens?: boolean
  /** How its ID tokens are signed; by default RS256. */
  readonly id_token_signed_response_alg?: string
  /** Seconds: `max_age` of its authorization requests that have none. */
  readonly default_max_age?: number
  /** `acr_values` of its authorization requests that name no level: `urn:grantor:acr:1fa`, `urn:grantor:acr:2fa` or `phr`. */
  readonly default_acr_values?: readonly string[]
  /** Whether each of its ID tokens has `auth_time`: a user whose time of sign-in is unknown signs in again. */
  readonly require_auth_time?: boolean
  /** Exact URIs to which the browser may return after a logout. */
  readonly post_logout_redirect_uris?: readonly string[]
  /** Where the server notifies it when a session of a user ends. */
  readonly backchannel_logout_uri?: string
  /** Whether logout tokens must have a `sid`. They always have one. */
  readonly backchannel_logout_session_required?: boolean
  /** The name of the client, as the pages show it. */
  readonly client_name?: string
  /** The name on pages in the language en, instead of client_name. */
  readonly 'client_name#en'?: string
  /** The name on pages in the language de, instead of client_name. */
  readonly 'client_name#de'?: string
  /** The name on pages in the language es, instead of client_name. */
  readonly 'client_name#es'?: string
  /** The name on pages in the language fr, instead of client_name. */
  readonly 'client_name#fr'?: string
  /** Its website, to which pages lead the users of a client that is verified or an operator created. */
  readonly client_uri?: string
  /** Where it begins a sign-in that started elsewhere (OpenID Connect Core 1.0 §4). Pages lead its users there instead of to client_uri. */
  readonly initiate_login_uri?: string
  /** Its logo, which no page loads. */
  readonly logo_uri?: string
  /** Its terms of service. */
  readonly tos_uri?: string
  /** Its privacy policy. */
  readonly policy_uri?: string
  /** What program it is, the same for all copies. */
  readonly software_id?: string
  /** The version of the program. */
  readonly software_version?: string
  /** Addresses of those who are responsible for it. */
  readonly contacts?: readonly string[]
}

export interface DomainRule {
  readonly pattern: string
  readonly verdict: 'trusted' | 'blocked'
  readonly note: string | null
  /** When the rule was set. */
  readonly changed_at: string
}

export interface EndedClient extends Client {
  /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
  readonly jwt_accepted_until: string | null
  /** The same in seconds from this answer. */
  readonly jwt_accepted_for_seconds: number
}

export interface EndedGrant {
  readonly grant_id: string
  readonly client_id: string
  readonly user_id: string
  readonly organization_id: string | null
  readonly scope: string
  /** The APIs that its tokens are for; empty: the issuer itself. */
  readonly resources: readonly string[]
  /** How the client got it, as far as the grant and the redirect URIs of the client say; null: by a code at a redirect URI to the computer of the user, or by a device, or the client was deleted. */
  readonly grant_type: 'authorization_code' | 'urn:ietf:params:oauth:grant-type:device_code' | 'urn:ietf:params:oauth:grant-type:jwt-bearer' | null
  /** The provider whose identity assertion gave the access; null: the user did. */
  readonly provider_id: string | null
  /** When the user consented, or the assertion was used. */
  readonly created_at: string
  /** All tokens of the grant expire by this time. */
  readonly expires_at: string
  readonly revoked_at: string | null
  /** Why its tokens do not work: expired, revoked, or the principal that is disabled, deleted, or had all tokens revoked since. null: they do. */
  readonly inactive_reason: 'expired' | 'not-yet-valid' | 'revoked' | 'held' | 'replaced' | 'client' | 'server' | 'user' | 'organization' | 'membership' | 'installation' | 'access-rule' | null
  /** When its refresh token was issued; null: it has none. */
  readonly refreshed_at: string | null
  /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
  readonly jwt_accepted_until: string | null
  /** The same in seconds from this answer. */
  readonly jwt_accepted_for_seconds: number
  /** Whether the grant was already revoked; then nothing changed. */
  readonly was_revoked: boolean
  /** Other active grants of the same user for the same client, among the newest 100. Their tokens keep working. */
  readonly other_grants: readonly string[]
}

export interface EndedInstallation extends Installation {
  /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
  readonly jwt_accepted_until: string | null
  /** The same in seconds from this answer. */
  readonly jwt_accepted_for_seconds: number
}

export interface EndedMember extends Member {
  /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
  readonly jwt_accepted_until: string | null
  /** The same in seconds from this answer. */
  readonly jwt_accepted_for_seconds: number
}

export interface EndedOrganization extends Organization {
  /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
  readonly jwt_accepted_until: string | null
  /** The same in seconds from this answer. */
  readonly jwt_accepted_for_seconds: number
}

export interface EndedUser extends User {
  /** APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second. */
  readonly jwt_accepted_until: string | null
  /** The same in seconds from this answer. */
  readonly jwt_accepted_for_seconds: number
}

export interface ExplainedApi {
  /** The identifier of the API; null: the identity scopes, such as openid. */
  readonly resource: string | null
  /** Whether a token is issued: something is left, and something of the API. */
  readonly gives: boolean
  /** Why there is no token, where no scope says it; null otherwise. */
  readonly why: string | null
  readonly scopes: readonly ExplainedScope[]
}

export interface ExplainedGrant {
  readonly grant_id: string
  readonly organization_id: string | null
  readonly created_at: string
  readonly resources: readonly string[]
  readonly scope: string
  /** The scope of its next token for the same APIs; null: it gets none. */
  readonly next_scope: string | null
  /** Why it gets no further token; null: it gets one. */
  readonly reason: 'expired' | 'not-yet-valid' | 'revoked' | 'held' | 'replaced' | 'client' | 'server' | 'user' | 'organization' | 'membership' | 'installation' | 'access-rule' | 'scope-gone' | 'no-refresh-token' | null
}

export interface ExplainedScope {
  readonly scope: string
  readonly gives: boolean
  /** Whether it is given only to a request that names it. */
  readonly on_request: boolean
  /** Why it is not given. level: the account cannot reach the level. obstacle: nothing is given. null: it is given. */
  readonly reason: 'not_declared' | 'not_approved' | 'not_registered' | 'not_installed' | 'access_rule' | 'level' | 'obstacle' | null
  /** The same in sentences. Where it is given: the level that it needs, or null. */
  readonly why: string | null
}

export interface ExplainedWay {
  /** sign-in: the user allows it; for-member: the client acts for the user, who does not sign in. */
  readonly way: 'sign-in' | 'for-member'
  /** The highest level that the account can reach; null: no user signs in, or the account is not in your reach. */
  readonly reach: '1fa' | '2fa' | 'phr' | null
  /** Why nothing is given; empty: it depends on the scope. */
  readonly obstacles: readonly {
    readonly kind: 'client' | 'client-blocked' | 'user' | 'organization' | 'not-a-member' | 'membership' | 'grant-type' | 'installation'
    readonly why: string
  }[]
  readonly apis: readonly ExplainedApi[]
  /** The access rules that match the user, the client and these scopes. */
  readonly rules: readonly MatchingAccessRule[]
}

export interface Figures {
  /** From when the figures are complete: later than asked if there are too many rows. */
  readonly since: string
  readonly until: string
  /** The beginning of the five minutes, the hour or the day of which the oldest figures are. null: there are none. */
  readonly counted_from: string | null
  /** The time that a point is about. */
  readonly step_seconds: number
  /** Oldest first. A time at which no process wrote figures has no point. Numbers that are 0 are left out. */
  readonly points: readonly FiguresPoint[]
  /** Of all points together. */
  readonly totals: FiguresTotals
}

export interface FiguresPoint {
  readonly ended_at: string
  /** Issued access tokens, by grant type. */
  readonly tokens: Readonly<Record<string, number>>
  /** New clients, by source: registration, document or operator. */
  readonly registrations: Readonly<Record<string, number>>
  /** Sessions that started, by method: password, passkey, provider or application. */
  readonly sign_ins: Readonly<Record<string, number>>
  /** Refused requests, by the most frequent reasons (docs/errors.md), and other. */
  readonly refusals: Readonly<Record<string, number>>
  /** sign_in_failed; scope_refused; token_reused: a refresh token was used again; token_parted: an earlier one came from another network or was too old; code_replayed; too_many: answers with 429; failed: with 5xx. */
  readonly events: Readonly<Record<string, number>>
  /** The 99th percentile of the time of token and authorization requests in milliseconds: the highest of all processes. */
  readonly p99_ms: Readonly<Record<string, number>>
}

export interface FiguresTotals {
  /** Issued access tokens, by grant type. */
  readonly tokens: Readonly<Record<string, number>>
  /** New clients, by source: registration, document or operator. */
  readonly registrations: Readonly<Record<string, number>>
  /** Sessions that started, by method: password, passkey, provider or application. */
  readonly sign_ins: Readonly<Record<string, number>>
  /** Refused requests, by the most frequent reasons (docs/errors.md), and other. */
  readonly refusals: Readonly<Record<string, number>>
  /** sign_in_failed; scope_refused; token_reused: a refresh token was used again; token_parted: an earlier one came from another network or was too old; code_replayed; too_many: answers with 429; failed: with 5xx. */
  readonly events: Readonly<Record<string, number>>
  /** The 99th percentile of the time of token and authorization requests in milliseconds: the highest of all processes. */
  readonly p99_ms: Readonly<Record<string, number>>
}

export interface Group {
  readonly group_id: string
  /** The organization that has the group; null: the server has it. */
  readonly organization_id: string | null
  /** For people. Tokens have the id. */
  readonly name: string
  /** Whether the members count as holders of a role: administrators with less than write access, and those of other organizations, cannot change their accounts. */
  readonly protected: boolean
  readonly created_at: string
}

export interface GroupMember {
  /** Who says it: `operator`, an administrator or an import; `application`, your application; or `provider:<id>`. */
  readonly source: string
  readonly created_at: string
  /** The end; null: there is none. */
  readonly expires_at: string | null
  /** Whether it counts now: it has not ended, and its provider is enabled, names the group and is not newer. A group of an organization also needs an active membership. */
  readonly counts: boolean
  readonly group_id: string
  readonly user_id: string
  readonly email: string | null
  readonly name: string | null
}

export interface GroupSource {
  /** Who says it: `operator`, an administrator or an import; `application`, your application; or `provider:<id>`. */
  readonly source: string
  readonly created_at: string
  /** The end; null: there is none. */
  readonly expires_at: string | null
  /** Whether it counts now: it has not ended, and its provider is enabled, names the group and is not newer. A group of an organization also needs an active membership. */
  readonly counts: boolean
}

export interface InitialToken {
  readonly initial_token_id: string
  readonly name: string
  /** How many clients can register with the token in total. */
  readonly uses: number
  readonly uses_left: number
  readonly template: {
    readonly trust_level: 'verified' | 'unverified'
    /** null: every declared scope. */
    readonly scope: string | null
    /** null: every host. */
    readonly redirect_hosts: readonly string[] | null
    readonly unused: 'keep' | 'sweep'
  }
  readonly created_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
}

export interface Installation {
  readonly organization_id: string
  readonly client_id: string
  /** With the names in other languages: `Wall (de: Wand)`. */
  readonly client_name: string | null
  /** The scopes that the client can have at most. */
  readonly scope: string
  /** Whether the client may also act for members of the organization. */
  readonly acts_for_members: boolean
  readonly created_at: string
  readonly disabled_at: string | null
  /** The not-before time: tokens of the client for the organization issued earlier are revoked. */
  readonly not_before: string
}

export interface Interaction {
  readonly interaction: string
  /** authorization: a client asks for access. account: the person opens an account page of this server. */
  readonly purpose: 'authorization' | 'account'
  readonly expires_at: string
  readonly answered: 'accepted' | 'rejected' | null
  /** null: no client asks. */
  readonly client: {
    readonly client_id: string
    /** Chosen by the client: show it together with the destination. */
    readonly client_name: string | null
    /** The name on pages in the language en, instead of client_name. */
    readonly 'client_name#en'?: string
    /** The name on pages in the language de, instead of client_name. */
    readonly 'client_name#de'?: string
    /** The name on pages in the language es, instead of client_name. */
    readonly 'client_name#es'?: string
    /** The name on pages in the language fr, instead of client_name. */
    readonly 'client_name#fr'?: string
    /** unverified: the identity of the client was not checked, and the page has to say so. */
    readonly trust_level: 'verified' | 'known-domain' | 'unverified'
    readonly registered_at: string
    /** The host of its metadata document; null: it has none. */
    readonly document_host: string | null
    /** Where the browser goes after the consent: to a host, to a program on this computer, or to the app that opens a scheme. device: nowhere, the access is for the device of `device`. */
    readonly destination: {
      readonly kind: 'host' | 'this-computer' | 'app' | 'device'
      readonly host: string | null
      readonly scheme: string | null
    }
  } | null
  /** The device that gets the access; null: the client has sent the browser. */
  readonly device: {
    /** The code that the person typed. Ask whether the device shows it now. */
    readonly user_code: string
    readonly asked_at: string
    /** The address from which the device asked. */
    readonly network: string
    /** false: the browser has another address. Warn the person, and ask whether the device is an own one. */
    readonly is_same_network: boolean
  } | null
  readonly scopes: readonly {
    readonly name: string
    readonly sentences: readonly (string | TextsByLanguage)[]
  }[]
  /** What access rules leave out for the person of `subject`: show it without a box. If nothing is left, accept gives the client access_denied. null: `subject` is missing. */
  readonly withheld: readonly {
    /** null: an API without scopes, or a request without scope. */
    readonly scope: string | null
    /** The id of the access rule. */
    readonly rule: string
    /** What the rule says to the person. */
    readonly sentence: string | null
  }[] | null
  readonly resources: readonly {
    readonly resource: string
    readonly name: string | TextsByLanguage | null
  }[]
  /** The organization that the client asks for; null: the person chooses. */
  readonly organization_id: string | null
  /** The user whom the client expects. The hint is not verified: any link to this server can have one. */
  readonly login_hint: string | null
  /** The languages that the person prefers. */
  readonly ui_locales: readonly string[]
  readonly prompt: readonly ('login' | 'consent')[]
  /** The person must authenticate after this time, even if your application has a session of the person. */
  readonly sign_in_after: string | null
  /** Whether the client, or a scope, asks for a sign-in with two factors: ask the person for them. */
  readonly multi_factor_needed: boolean
}

export interface InvitedMember {
  readonly organization_id: string
  readonly email: string
}

export interface KeptApi extends Api {
  /** A warning about the API as it is now; null: none. */
  readonly notice: string | null
}

export interface Key {
  readonly kid: string
  /** What the key signs: access tokens, or ID tokens. */
  readonly purpose: 'access' | 'id'
  readonly algorithm: 'ES256' | 'EdDSA' | 'RS256'
  readonly created_at: string
  /** The key signs from this time, until the next key does. */
  readonly active_from: string
}

export interface Link {
  readonly user_id: string
  readonly email: string
  /** invitation: the user has no password and never signed in. reset: using the link ends all sessions and grants. */
  readonly purpose: 'invitation' | 'reset'
  readonly expires_at: string
  /** What its page offers now: "password", "passkey", or the ids of providers. A provider that is required for the address is the only one. */
  readonly methods: readonly string[]
  /** The address of the link, for the user only. It is shown once. */
  readonly link: string
}

export interface ListedGrant {
  readonly grant_id: string
  readonly client_id: string
  readonly user_id: string
  readonly organization_id: string | null
  readonly scope: string
  /** The APIs that its tokens are for; empty: the issuer itself. */
  readonly resources: readonly string[]
  /** How the client got it, as far as the grant and the redirect URIs of the client say; null: by a code at a redirect URI to the computer of the user, or by a device, or the client was deleted. */
  readonly grant_type: 'authorization_code' | 'urn:ietf:params:oauth:grant-type:device_code' | 'urn:ietf:params:oauth:grant-type:jwt-bearer' | null
  /** The provider whose identity assertion gave the access; null: the user did. */
  readonly provider_id: string | null
  /** When the user consented, or the assertion was used. */
  readonly created_at: string
  /** All tokens of the grant expire by this time. */
  readonly expires_at: string
  readonly revoked_at: string | null
  /** Why its tokens do not work: expired, revoked, or the principal that is disabled, deleted, or had all tokens revoked since. null: they do. */
  readonly inactive_reason: 'expired' | 'not-yet-valid' | 'revoked' | 'held' | 'replaced' | 'client' | 'server' | 'user' | 'organization' | 'membership' | 'installation' | 'access-rule' | null
  /** When its refresh token was issued; null: it has none. */
  readonly refreshed_at: string | null
  /** What of the user is in your reach, besides what your access allows: the account; what an organization or an app has of it; or nothing, because the account has a role or is in a protected group. */
  readonly reach: 'account' | 'membership' | 'nothing'
}

export interface ListedGroup extends Group {
  /** With `user_id`: who says that the user is in the group. null: not asked. */
  readonly sources: readonly GroupSource[] | null
}

export interface ListedMember extends Member {
  /** What of the user is in your reach, besides what your access allows: the account; what an organization or an app has of it; or nothing, because the account has a role or is in a protected group. */
  readonly reach: 'account' | 'membership' | 'nothing'
  /** The state of the account, as in user.list; null: the account is not in your reach. */
  readonly state: 'disabled' | 'no-way' | 'locked' | 'invited' | 'never-signed-in' | 'active' | null
  /** When a lock or an invitation ends; null: not by itself. */
  readonly state_until: string | null
}

export interface ListedRole extends Role {
  /** What of the user is in your reach, besides what your access allows: the account; what an organization or an app has of it; or nothing, because the account has a role or is in a protected group. */
  readonly reach: 'account' | 'membership' | 'nothing'
  /** Whether the account has an authenticator app or a passkey. The console needs two factors. null: your application states them. */
  readonly has_second_factor: boolean | null
  /** When the user last signed in to the console. null: never, or so long ago that the grant was removed. */
  readonly signed_in_at: string | null
}

export interface ListedUser extends User {
  /** The worst of: disabled; no-way (the account has nothing to sign in with, and no link is open); locked (wrong passwords or codes keep browsers out that the account does not know); invited (an invitation is open); never-signed-in; active. */
  readonly state: 'disabled' | 'no-way' | 'locked' | 'invited' | 'never-signed-in' | 'active'
  /** When a lock or an invitation ends; null: not by itself. */
  readonly state_until: string | null
  /** The ids of the organizations of which the user is a member. */
  readonly organizations: readonly string[]
  /** What of the user is in your reach, besides what your access allows: the account; what an organization or an app has of it; or nothing, because the account has a role or is in a protected group. */
  readonly reach: 'account' | 'membership' | 'nothing'
}

export interface MatchingAccessRule {
  /** null: a rule of the server, which administrators of one organization do not see. */
  readonly rule_id: string | null
  /** The organization that has the rule; null: the server has it. */
  readonly organization_id: string | null
  /** What the rule does, as one sentence. */
  readonly reads: string | null
  /** The level at which it gives the scopes; none: it takes them. */
  readonly require: 'none' | '2fa' | 'phr'
  readonly state: 'on' | 'report' | 'off'
  /** What the pages say to the person. */
  readonly sentence: string | null
  /** The scopes about which it is; an empty one: an API without scopes, or a request without scope. */
  readonly scopes: readonly string[]
  /** Why the person is among those for whom the rule is. */
  readonly because: readonly string[]
}

export interface Member {
  readonly organization_id: string
  readonly user_id: string
  readonly email: string | null
  readonly name: string | null
  /** When the user became a member. */
  readonly created_at: string
  /** When the membership was disabled; the account is not affected. */
  readonly disabled_at: string | null
  /** The not-before time: tokens of the member for the organization issued earlier are revoked. */
  readonly not_before: string
}

export interface Membership {
  readonly organization_id: string
  /** Of the organization. */
  readonly name: string
  /** Since when the membership is disabled; null: it is not. */
  readonly disabled_at: string | null
}

export interface NamesGroup {
  /** `server`: a record of the server, which administrators of one organization do not see. */
  readonly kind: 'access-rule' | 'api' | 'client' | 'provider' | 'server'
  /** The identifier of the API, or the id of the rule, the client or the provider; null: of `server`. */
  readonly id: string | null
  /** The organization that has the access rule; null: the server has it, or it is no rule. */
  readonly organization_id: string | null
}

export interface NewAdminCredential extends AdminCredential {
  readonly token: string
}

export interface NewDelegateCredential {
  readonly credential_id: string
  readonly name: string
  /** delegate: only the sign-ins of your application, by the token of "grantor delegate create-credentials". */
  readonly access: 'read' | 'support' | 'users' | 'write' | 'metrics' | 'delegate'
  /** The one organization that the credentials are for; null: the whole server. */
  readonly organization_id: string | null
  readonly created_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
  readonly token: string
}

export interface NewInitialToken extends InitialToken {
  readonly initial_access_token: string
}

export interface NewInstallation extends Installation {
  /** The installation that was replaced; null: there was none. */
  readonly previous: Installation | null
  /** A warning about the installation; null: none. */
  readonly notice: string | null
}

export interface Organization {
  readonly organization_id: string
  readonly name: string
  readonly created_at: string
  readonly disabled_at: string | null
  /** The not-before time: tokens for the organization issued earlier are revoked. */
  readonly not_before: string
}

export interface Passkey {
  readonly passkey_id: string
  /** The browser in which the user added it; null: not a known one. */
  readonly browser: string | null
  readonly system: string | null
  /** Whether the key has a copy outside the device that made it. */
  readonly is_synced: boolean
  readonly added_at: string
  /** null: no sign-in has used it. */
  readonly used_at: string | null
}

export interface PersonGroup {
  readonly group_id: string
  /** Who says it: `operator`, `application` or `provider:<id>`; of an ended membership, who said it. */
  readonly source: string
  /** null: it is no longer known. */
  readonly created_at: string | null
  /** The end; null: there is none, or it is not known. */
  readonly expires_at: string | null
  /** When it was removed; null: it was not. */
  readonly ended_at: string | null
  /** Whether the person is in the group now, because of this. */
  readonly counts: boolean
}

export interface Provider {
  readonly provider_id: string
  readonly kind: 'oidc' | 'github'
  readonly issuer: string
  /** The redirect URI to register at the provider. */
  readonly redirect_uri: string
  /** false: the master key was replaced after a leak, and the secret has to be set again. */
  readonly has_secret: boolean
  readonly subject_claim: 'sub' | 'tenant-object'
  /** The name of the provider on the sign-in page. */
  readonly name: string
  /** The client_id of this server at the provider. */
  readonly client_id: string
  /** How this server authenticates at the token endpoint. */
  readonly auth_method: 'client_secret_basic' | 'client_secret_post'
  /** The scope that this server requests at the provider. */
  readonly scope: string
  /** When an address counts as proved: none, never; claim, if email_verified is true; domains, also without it if the address is of the domains. */
  readonly email_trust: 'none' | 'claim' | 'domains'
  /** The domains of addresses that belong to this provider only. */
  readonly domains: readonly string[]
  /** required: accounts with an address of the domains sign in at this provider only. */
  readonly routing: 'offered' | 'required'
  /** Whether each visitor of the sign-in page sees a button of the provider: auto, only if it has neither domains nor an organization; shown, always; hidden, never. */
  readonly listing: 'auto' | 'shown' | 'hidden'
  /** Which persons get an account at their first sign-in: off, none; domains, those with a proved address of the domains; anybody, all. */
  readonly sign_up: 'off' | 'domains' | 'anybody'
  /** How a person is connected to an account with the same proved address: ask, after a sign-in to the account; verified-email, at once, if the address is of the domains and verified in the account. */
  readonly link: 'ask' | 'verified-email'
  /** Whether the provider always asks for a second factor, so that none is asked for here. */
  readonly multi_factor: boolean
  /** The organization of which users become members; null: none. */
  readonly organization_id: string | null
  /** Which users become members of the organization at a sign-in: domains, those with a proved address of the domains; anybody, all, because each person of the provider belongs to it. */
  readonly membership: 'domains' | 'anybody'
  /** The claim with the groups of a person, in the ID token or else at userinfo: `groups`, `roles`, or a path such as `realm_access.roles`; `teams` of GitHub. null: none is read. */
  readonly group_claim: string | null
  /** A value of the claim, `=`, and the group whose member a person with the value is: 8f3c0a52=finance. No other value counts. */
  readonly groups: readonly string[]
  /** For how many days after a sign-in what the provider says of groups counts. */
  readonly group_days: number
  /** The host of Microsoft Graph, which is asked for the groups of a person who has too many for a token of Entra. null: none is asked. */
  readonly graph_host: string | null
  /** Hosts of the provider, besides that of its issuer, that may have private addresses. */
  readonly private_hosts: readonly string[]
  /** The client_id of each client that may act for persons of the provider by its identity assertions. */
  readonly assertion_clients: readonly string[]
  /** The APIs for which the clients get tokens by identity assertions of the provider. */
  readonly assertion_apis: readonly string[]
  /** Whether each visitor of the sign-in page sees a button of the provider, as `listing` says. Without passwords, `auto` also shows the only provider. */
  readonly listed: boolean
  /** Whether users can sign in at the provider: it is enabled, and no application of yours signs users in. */
  readonly usable: boolean
  readonly created_at: string
  readonly disabled_at: string | null
}

export interface ProviderTest {
  readonly provider_id: string
  readonly redirect_uri: string
  readonly ok: boolean
  readonly findings: readonly {
    readonly check: string
    readonly ok: boolean
    readonly detail: string
  }[]
}

export interface PurgedClient extends Client {
  /** Why the server by itself would keep the client. waiting: its user is on the way. new: it registered in the last 15 minutes. active: it has a refresh token that may be valid, or is kept by a decision. null: nothing. */
  readonly spared_as: 'waiting' | 'new' | 'active' | null
}

export interface RegistrationTemplate {
  /** Whether the clients count as verified. If so, the token has at most 100 uses and 30 days. */
  readonly trust_level?: 'verified' | 'unverified'
  /** The maximum scope that the clients may register; by default every declared scope. */
  readonly scope?: string
  /** The hosts that redirect and logout URIs may have, such as `app.example`, `*.app.example` or `localhost`; by default every host. If hosts are given, no private-use URI is allowed. */
  readonly redirect_hosts?: readonly string[]
  /** Whether a client that never gets a token is kept, or removed as after an open registration. */
  readonly unused?: 'keep' | 'sweep'
}

export interface Role {
  readonly user_id: string
  readonly access: 'read' | 'support' | 'users' | 'write'
  /** The one organization that the role is for; null: the whole server. */
  readonly organization_id: string | null
  /** The role counts only while the issuer is a loopback address. */
  readonly loopback_only: boolean
  readonly set_at: string
}

export interface RuledClient extends Client {
  /** The rules that were replaced. */
  readonly previous_rules: {
    /** implied: the users of this first-party client are not asked for consent to the scope that it is registered for, where its redirect URI uses https, or is a loopback one of a server on the same computer. */
    readonly consent: 'asked' | 'implied'
    /** When this client may omit PKCE: never, in a request with `openid`, a `nonce` and an https redirect URI, or in every request, because it cannot do otherwise. A public client may never omit it. */
    readonly pkce: 'required' | 'nonce' | 'optional'
    /** Where the client finds the claims of its scope: at the userinfo endpoint only, or also in its ID tokens. */
    readonly claims: 'userinfo' | 'id-token'
    /** fapi2: the client must meet the FAPI 2.0 Security Profile. It needs private_key_jwt. */
    readonly profile: 'standard' | 'fapi2'
    /** What an earlier refresh token of the client gets: the newest one in the network that has it (network), or nothing (strict). The default is GRANTOR_REFRESH_COPIES for a public client, and strict for another one. */
    readonly copies?: 'network' | 'strict'
    /** The claim in which the client reads the groups of users, in ID tokens and at userinfo, if it requests the scope `groups`. The default is off. */
    readonly groups?: 'off' | 'groups' | 'roles' | 'entitlements'
    /** The groups that the claim may name, each with the word that it has there after a `=`: grafana-admins=Admin. Without a word it is the id. No group: all, by their ids. */
    readonly group_words?: readonly string[]
  }
}

export interface SentLink {
  readonly user_id: string
  readonly email: string
  /** invitation: the user has no password and never signed in. reset: using the link ends all sessions and grants. */
  readonly purpose: 'invitation' | 'reset'
  readonly expires_at: string
  /** What its page offers now: "password", "passkey", or the ids of providers. A provider that is required for the address is the only one. */
  readonly methods: readonly string[]
}

export interface Server {
  readonly version: string
  readonly issuer: string
  /** Seconds that an access token is valid, unless its API says otherwise. */
  readonly access_token_lifetime: number
  /** What an earlier refresh token of a public client gets, unless a rule of the client says otherwise. */
  readonly refresh_copies: 'network' | 'strict'
  /** The time by the clock that decides. */
  readonly time: string
  /** How many APIs are declared. */
  readonly apis: number
  readonly sends_mail: boolean
  /** What signs the tokens of APIs that choose no algorithm. */
  readonly signing_algorithm: string
  /** What a running server sees of "grantor doctor", which also looks at the database, the secret and the network. */
  readonly findings: readonly {
    readonly check: string
    readonly verdict: 'ok' | 'warning' | 'failed'
    readonly message: string
    readonly remedy: string | null
    /** Where a person at the console mends it. */
    readonly screen: {
      readonly path: string
      readonly label: string
    } | null
  }[]
}

export interface Session {
  readonly session_id: string
  readonly user_id: string
  /** How the user authenticated (RFC 8176); `recovery`: with a recovery code. */
  readonly methods: readonly string[]
  readonly provider_id: string | null
  /** null: unknown, because the provider or the application did not report it. */
  readonly authenticated_at: string | null
  readonly browser: string | null
  readonly system: string | null
  /** The network that the user signed in from: an IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string | null
  readonly started_at: string
  /** When the browser last showed a page of this server, to within five minutes. */
  readonly seen_at: string
  readonly expires_at: string
}

export interface SetDomainRule extends DomainRule {
  /** The rule that was replaced; null: there was none. */
  readonly previous: DomainRule | null
}

export interface SetRole extends Role {
  /** The role that was replaced; null: the user had none. */
  readonly previous: Role | null
  /** The address of the console; null: it is off. */
  readonly console_url: string | null
  /** Whether an invitation or another link that an administrator handed over ended: its reader would have the role. */
  readonly link_ended: boolean
}

export interface ShownAccessRule extends AccessRule {
  /** At most 50 of the newest 1000 grants: those that have not ended and that the rule is about, whatever its state is. */
  readonly grants: readonly {
    readonly grant_id: string
    readonly user_id: string
    readonly client_id: string
    readonly organization_id: string | null
    readonly created_at: string
    /** The scopes of the grant about which the rule is. */
    readonly scopes: readonly string[]
  }[]
  /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
  readonly names: Readonly<Record<string, string>>
}

export interface ShownGrant {
  readonly grant_id: string
  readonly client_id: string
  readonly user_id: string
  readonly organization_id: string | null
  readonly scope: string
  /** The APIs that its tokens are for; empty: the issuer itself. */
  readonly resources: readonly string[]
  /** How the client got it, as far as the grant and the redirect URIs of the client say; null: by a code at a redirect URI to the computer of the user, or by a device, or the client was deleted. */
  readonly grant_type: 'authorization_code' | 'urn:ietf:params:oauth:grant-type:device_code' | 'urn:ietf:params:oauth:grant-type:jwt-bearer' | null
  /** The provider whose identity assertion gave the access; null: the user did. */
  readonly provider_id: string | null
  /** When the user consented, or the assertion was used. */
  readonly created_at: string
  /** All tokens of the grant expire by this time. */
  readonly expires_at: string
  readonly revoked_at: string | null
  /** Why its tokens do not work: expired, revoked, or the principal that is disabled, deleted, or had all tokens revoked since. null: they do. */
  readonly inactive_reason: 'expired' | 'not-yet-valid' | 'revoked' | 'held' | 'replaced' | 'client' | 'server' | 'user' | 'organization' | 'membership' | 'installation' | 'access-rule' | null
  /** When its refresh token was issued; null: it has none. */
  readonly refreshed_at: string | null
  /** What of the user is in your reach, besides what your access allows: the account; what an organization or an app has of it; or nothing, because the account has a role or is in a protected group. */
  readonly reach: 'account' | 'membership' | 'nothing'
  /** Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent. */
  readonly names: Readonly<Record<string, string>>
}

export interface ShownGroup extends Group {
  /** What names the group. While something does, it cannot be deleted. */
  readonly named_by: readonly NamesGroup[]
}

export interface SignedOutUser extends User {
  /** How many sessions ended. */
  readonly sessions: number
}

export interface TextsByLanguage {
  readonly default?: string
  readonly en?: string
  readonly de?: string
  readonly es?: string
  readonly fr?: string
}

export interface TokenInspection {
  readonly kind: 'access' | 'refresh' | 'unknown'
  /** Whether the token is valid now. */
  readonly active: boolean
  /** Why the token is inactive: expired, not-yet-valid (issued by a clock that was ahead), revoked, held (an earlier refresh token was used in another network, or was too old), replaced (a newer refresh token), or what was disabled, expired or deleted. */
  readonly ended_by: 'expired' | 'not-yet-valid' | 'revoked' | 'held' | 'replaced' | 'client' | 'server' | 'user' | 'organization' | 'membership' | 'installation' | 'access-rule' | null
  readonly client_id: string | null
  readonly user_id: string | null
  readonly organization_id: string | null
  readonly grant_id: string | null
  /** The jti of an access token. */
  readonly token_id: string | null
  readonly scope: string | null
  /** The APIs that the token is for; empty: the issuer itself. */
  readonly resources: readonly string[]
  /** The APIs that exchanged the token, the newest first; empty: it is as the client got it. */
  readonly actors: readonly string[]
  readonly issued_at: string | null
  readonly expires_at: string | null
}

export interface UpdatedProvider extends Provider {
  /** unchanged: the provider had these settings and this secret already. */
  readonly outcome: 'changed' | 'unchanged'
}

export interface User {
  readonly user_id: string
  /** null: the user signs in without an address, at a provider. */
  readonly email: string | null
  /** When the address was proved to be the user's. */
  readonly email_verified_at: string | null
  readonly name: string | null
  /** The claims that apps with the scopes profile, phone and address get. */
  readonly profile: Readonly<Record<string, unknown>>
  readonly has_password: boolean
  /** null: never. */
  readonly first_signed_in_at: string | null
  /** null: never. */
  readonly last_signed_in_at: string | null
  readonly created_at: string
  readonly disabled_at: string | null
  /** The not-before time: sessions and tokens of the user issued earlier are revoked. */
  readonly not_before: string
}

export interface WholeUser extends User {
  /** The worst of: disabled; no-way (the account has nothing to sign in with, and no link is open); locked (wrong passwords or codes keep browsers out that the account does not know); invited (an invitation is open); never-signed-in; active. */
  readonly state: 'disabled' | 'no-way' | 'locked' | 'invited' | 'never-signed-in' | 'active'
  /** When a lock or an invitation ends; null: not by itself. */
  readonly state_until: string | null
  /** What of the user is in your reach, besides what your access allows: the account; what an organization or an app has of it; or nothing, because the account has a role or is in a protected group. */
  readonly reach: 'account' | 'membership' | 'nothing'
  /** The providers and the application at which the user signs in. */
  readonly identities: readonly {
    /** A provider, or "delegate" for your own application. */
    readonly provider_id: string
    /** The id of the user at the provider. */
    readonly subject: string
    readonly email: string | null
    readonly linked_at: string
    readonly used_at: string
  }[]
  /** The app of the two-step sign-in; null: none. */
  readonly authenticator_app: {
    readonly added_at: string
    /** null: no sign-in has used it. */
    readonly used_at: string | null
    /** How many recovery codes are left. */
    readonly recovery_codes: number
    /** Whether codes of unknown browsers are refused, after 100 wrong ones. */
    readonly is_locked: boolean
  } | null
  /** The passkeys, the oldest first. */
  readonly passkeys: readonly Passkey[]
  /** Whether the address was never verified although the account is in use, so that it may be of another person than its address says. The command line then asks for the id before it gives the user something. */
  readonly is_address_doubtful: boolean
  /** How the account can sign in by now. */
  readonly sign_in: {
    /** What the account can sign in with now: "password", "passkey", "delegate" for your application, or the id of a provider. Empty: it cannot sign in. */
    readonly ways: readonly string[]
    /** With what the account confirms a sign-in of one factor: "app", "passkey", or the id of a provider with multi_factor. "set-up": it has none, and sets one up. Empty: what it has does not work now. null: no second step follows. */
    readonly second_step: readonly string[] | null
    /** What prevents sign-ins, or some of them, each with a sentence. Empty: nothing. */
    readonly obstacles: readonly {
      readonly reason: 'disabled' | 'no-way' | 'not-connected' | 'second-factor-unusable' | 'provider-required' | 'provider-disabled' | 'too-many-passwords' | 'too-many-codes' | 'codes-locked'
      readonly message: string
      /** The name of the provider that the obstacle is about; null: of none. */
      readonly provider: string | null
      /** How many wrong passwords or codes locked it; null: it is no lock. */
      readonly wrong_attempts: number | null
      /** When a lock ends; null: not by itself. */
      readonly until: string | null
    }[]
  }
  /** What the user may do by the console; null: nothing. */
  readonly role: Role | null
  /** Of which the user is a member. */
  readonly organizations: readonly Membership[]
  /** The link that is open, which the user has not used yet; null: none. */
  readonly link: {
    readonly purpose: 'invitation' | 'reset'
    readonly expires_at: string
  } | null
}
