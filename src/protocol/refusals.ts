import { AUTHENTICATION_REASONS, TOKEN_REASONS } from './authentication-reasons.ts'
import { OFFERED_GRANT_TYPES } from './token/grant-types.ts'

/** One refusal of the server. Texts in Markdown are for docs/errors.md. */
export interface Refusal {
  readonly status: number
  /** Other statuses that it has, and when. Markdown. */
  readonly otherStatus?: string
  /** Fixed, so that a response reveals no more than its code. A refusal of scopes names them instead. */
  readonly description: string
  /** What the client should do. Markdown. */
  readonly remedy: string
  /** When each happens, and where the remedy above does not say it, the correction. Markdown; empty if the name says it. */
  readonly reasons: Readonly<Record<string, string>>
}

/** Every refusal of the server. OAuth clients read the code. `npm run docs` writes docs/errors.md from it. */
export const REFUSALS = {
  invalid_request: {
    status: 400,
    otherStatus: 'or 422 when `grant_type` is missing, 413, 415, 405, 404, 421, 431',
    description: 'The request lacks a parameter, repeats one, or has one that is malformed.',
    remedy: 'Correct the request. Tokens stay valid.',
    reasons: {
      parameter_missing:
        '`code`, `refresh_token`, `device_code`, `assertion`, `subject_token`, its type, `token` or `resource` is missing',
      parameter_repeated: '',
      device_in_browser: 'a page in a browser starts a device. The grant is for programs without a browser',
      not_a_navigation:
        'a page of another site loads the address for an image, a script or in advance. Open it in a window or a frame',
      parameter_malformed: 'the address or the Content-Length header is malformed',
      form_malformed: 'a broken percent-escape, not UTF-8, or more than 100 parameters',
      two_client_authentications: 'the Authorization header and the form both authenticate, or disagree',
      two_access_tokens: 'at userinfo, in the header and in the form',
      credentials_in_query: 'a parameter of the form, such as `client_id`, is in the address. Send it in the body',
      user_mismatch:
        '`user_id` is not the user of the grant, or not a member that the client may act for ([organizations](organizations.md))',
      organization_mismatch: '`org_id` is not the organization of the grant, or has not installed the client',
      proof_missing:
        'no header `DPoP`, which the client registered or an API requires ([bound tokens](tokens.md#bound-tokens))',
      subject_inactive: '`subject_token` is not an active access token of this server ([exchange](tokens.md#exchange))',
      subject_for_another: '`subject_token` is for another API than the caller, or for several',
      subject_without_user: 'the client of `subject_token` acts for itself. Use client credentials',
      token_type_unsupported: 'the type is not that of an access token (RFC 8693 §3)',
      actor_unsupported: '`actor_token` was sent. The API that authenticates is the actor',
      actors_too_many: '`act` of `subject_token` names four parties already',
      verifier_malformed: '`code_verifier` is not 43 to 128 unreserved characters; the code stays valid',
      request_uri_pushed: 'a pushed request has a `request_uri`',
      pushed_request_malformed: '`error_description` names the fault',
      insecure_transport: 'plain HTTP reached an https issuer; operators: `GRANTOR_TRUST_PROXY`',
      headers_too_many: '',
      grant_type_missing: '',
      media_type_wrong: 'not a form (`application/x-www-form-urlencoded`), or compressed',
      body_too_large: 'more than 16 KiB, or 256 KiB of an administrator',
      method_wrong: 'see `Allow`',
      path_unknown: '',
      registration_closed: 'the operator closed registration (404)',
      console_host_wrong:
        'the host is not that of `GRANTOR_CONSOLE_URL` (421), or a proxy forwards to a loopback address',
      console_form_wrong: 'the form is of another site, page or session',
      console_sign_in_failed:
        'the sign-in began in another browser, or came back too late or twice. Open the console again',
      console_cookie_wrong: 'no cookie, or those of several sessions. Remove the cookies of the host',
      input_malformed: 'the input of a task of the [administration](administration.md); see `detail`',
    },
  },
  invalid_client: {
    status: 401,
    description: 'The client is unknown or did not authenticate as it registered.',
    remedy: 'Check the credentials; if they are right, the client was deleted: register again.',
    reasons: AUTHENTICATION_REASONS,
  },
  invalid_token: {
    status: 401,
    description: 'The token for this request is missing, invalid, expired or revoked.',
    remedy:
      'Refresh the access token. At the [management of a client](clients.md#registration): if the token is right, the client was deleted or disabled.',
    reasons: TOKEN_REASONS,
  },
  insufficient_scope: {
    status: 403,
    description: 'These credentials do not permit this request.',
    remedy:
      'At the userinfo endpoint: request the scope `openid`. [Administration](administration.md): use credentials that permit this task.',
    reasons: {
      openid_missing: 'the access token has no scope `openid`, or no user allowed it',
      admin_access_too_narrow: 'the access `support` or `users` does not include the task',
      admin_may_only_read: 'credentials or role have the access `read`',
      console_role_missing: 'the user has no role for the [console](console.md)',
      console_factor_missing: 'the user signed in with one factor, or has removed one since',
      admin_of_sign_in:
        'the task is only for the credentials of [delegated sign-in](delegated-sign-in.md) (`gde_…`), or not for them',
      admin_may_only_read_metrics: 'credentials of the access `metrics`',
      admin_of_one_organization: 'credentials of one organization, for another task',
    },
  },
  not_found: {
    status: 404,
    description: 'The object of this request does not exist.',
    remedy: 'Administration only: `detail` says what does not exist.',
    reasons: {
      object_unknown: 'it does not exist, or belongs to another organization',
    },
  },
  conflict: {
    status: 409,
    description: 'The current state of the object does not allow this.',
    remedy: 'Administration only: `detail` says what conflicts.',
    reasons: {
      state_differs: 'it exists already, or changed meanwhile',
    },
  },
  invalid_grant: {
    status: 400,
    description:
      'The authorization code, its verifier, the refresh token or the assertion is invalid, expired, used or revoked.',
    remedy: 'Start a new authorization.',
    reasons: {
      device_unknown: 'not a device code of this server',
      device_of_another_client: 'another client presented the device code; nothing changed',
      code_unknown: 'not a code of this server, or invalidated by a wrong verifier',
      code_expired: '',
      code_replayed: 'redeemed before, also of a device; its tokens are revoked',
      code_of_another_client: 'another client presented it; nothing changed',
      redirect_uri_mismatch: 'not that of the authorization request; nothing changed',
      redirect_uri_missing: 'absent, and the authorization request had no `code_challenge`; nothing changed',
      verifier_unexpected: 'the authorization request had no `code_challenge`; nothing changed',
      verifier_missing: 'nothing changed',
      verifier_wrong: 'the code is now invalid',
      key_differs:
        'code, refresh token or assertion is bound to a key, and the request has no proof of it; nothing changed',
      assertion_malformed: 'not an identity assertion as [enterprise.md](enterprise.md) describes it',
      assertion_issuer: '`iss` is not exactly one usable provider that accepts assertions and lists the client',
      assertion_wrong: 'no key of the provider signed it',
      assertion_audience: '`aud` is not this issuer alone',
      assertion_client: 'its `client_id` is not the client that presents it',
      assertion_expired:
        'expired, valid for more than 30 minutes, from the future, or from before all tokens were revoked or the store was restored',
      assertion_replayed: 'the assertion was used before',
      assertion_tenant: 'it is for a tenant; create a provider for each',
      assertion_resource: '`resource` is not one declared API of the provider, or absent while it has several',
      assertion_details: 'it has `authorization_details`',
      subject_refused:
        'the subject has no account and gets none, is disabled, or is not a member of the organization of the provider',
      refresh_unknown: 'not issued by this server, or its grant was deleted long ago',
      refresh_of_another_client: 'another client presented it; nothing changed',
      refresh_expired: 'unused for `GRANTOR_REFRESH_IDLE_LIFETIME`, or older than `GRANTOR_REFRESH_ABSOLUTE_LIFETIME`',
      refresh_not_yet_valid: 'the clock was ahead when the grant was made',
      refresh_revoked: '',
      refresh_reused:
        'an older token of the family was presented: a copy exists, and the grant is revoked. [`why`](monitoring.md#grantorrefreshtokenreused) of `refresh-token.reused` has the rule',
      refresh_parted:
        'an older token of the family came from another network, or is older than `GRANTOR_REFRESH_EARLIER`: sign in, or refresh with the newest ([copies](mcp.md#several-processes))',
      resource_gone: '',
      scope_gone: 'no scope of the grant is left for one of its APIs',
      user_not_live: 'deleted, disabled, changed the password, or had all tokens revoked',
      organization_not_live: 'deleted or disabled, or its tokens were revoked',
      membership_not_live: 'the user is not a member of the organization, or is or was disabled there since',
      access_rule:
        'an [access rule](access-rules.md) leaves nothing for the user, or nothing of an API; nothing changed, and the token works again when the rule does',
      client_changed:
        'its name or the host of a redirect or logout URI changed after the user allowed it; nothing changed',
      client_not_live: 'the tokens of the client were revoked',
      everything_ended: '`grantor token revoke-all` came after this grant',
    },
  },
  invalid_dpop_proof: {
    status: 400,
    otherStatus: 'or 401 at the userinfo endpoint',
    description: 'The DPoP proof is malformed, is for another request, or is not signed by its key.',
    remedy: 'Correct the proof. Tokens stay valid.',
    reasons: {
      proof_malformed:
        'the header `DPoP` is not one JWT of at most 4 KiB as in RFC 9449 §4.2, with a public key for its algorithm; or `exp` or `nbf` is wrong',
      proof_for_another_request: '`htm` is not the method, or `htu` not the address of the endpoint',
      proof_wrong: 'its key did not sign it',
      proof_of_another_token: 'at userinfo, `ath` is not the hash of the access token',
      proof_of_another_key: 'not the key of the access token (userinfo) or of `dpop_jkt` (pushed request)',
      proof_replayed: 'at userinfo, sent before',
    },
  },
  use_dpop_nonce: {
    status: 400,
    otherStatus: 'or 401 at the userinfo endpoint',
    description: 'The DPoP proof is not recent. Make another one with the nonce of the header DPoP-Nonce.',
    remedy:
      'Repeat the request with a proof that has the `nonce` of the header `DPoP-Nonce`. Libraries do so. A client assertion of the request was not used up.',
    reasons: {
      proof_not_fresh: 'no nonce, and `iat` differs by more than a minute; or `exp` or `nbf` is wrong',
      nonce_stale: 'not a nonce of the last five to ten minutes',
    },
  },
  authorization_pending: {
    status: 400,
    description: 'No user has answered yet.',
    remedy: 'Poll again after `interval` seconds ([devices.md](devices.md)).',
    reasons: { device_waiting: 'no user has answered' },
  },
  slow_down: {
    status: 400,
    description: 'The device polls too often.',
    remedy: 'Poll again after five seconds more than before, from now on (RFC 8628 §3.5).',
    reasons: { device_polled_too_often: 'more than 15 times in a minute' },
  },
  access_denied: {
    status: 400,
    description: 'The user denied the request, or it was refused for the user.',
    remedy: 'Stop polling. The user can start again on the device.',
    reasons: { device_denied: 'a user answered "Deny", or may not allow what the device asks for' },
  },
  expired_token: {
    status: 400,
    description: 'The device code has expired.',
    remedy: 'Start again at the device authorization endpoint, when the user wants to.',
    reasons: {
      device_expired: 'not answered within ten minutes, or not polled within five minutes after the approval',
    },
  },
  unauthorized_client: {
    status: 400,
    description: 'The client is not registered for this grant type, or is not allowed to use it.',
    remedy: 'Register for the grant type.',
    reasons: {
      grant_type_not_registered: 'the client did not register this grant type',
      client_public: 'client credentials need a secret; an identity assertion needs one or a metadata document',
      client_not_listed:
        'no usable provider lists the client (`grantor provider update --assertion-client`), or its domain is blocked',
      exchange_by_client: 'a token exchange is for the credentials of APIs (`gap_…`)',
    },
  },
  unsupported_grant_type: {
    status: 422,
    description: `The grant type is not one of ${listed(OFFERED_GRANT_TYPES)}.`,
    remedy: 'Use one that the metadata lists.',
    reasons: {
      grant_type_unknown: 'the metadata does not list it',
    },
  },
  invalid_scope: {
    status: 400,
    description: 'The scope is malformed or exceeds what this client may request.',
    remedy: 'Request other scopes, or name one `resource`: `error_description` says which. Tokens stay valid.',
    reasons: {
      scope_malformed: 'not as RFC 6749 §3.3',
      scope_not_allowed:
        'the client may have none of the scopes, or none for one API ([apis.md](apis.md)); or a refresh wants more than was granted',
      audience_ambiguous: 'no `resource`, and the scopes belong to several APIs',
      token_too_long:
        'more scopes and resources than a token has ([maxima](maxima.md)): request fewer, or one resource at a time',
    },
  },
  invalid_target: {
    status: 400,
    otherStatus: 'or 404 for the document of an API',
    description: 'This server issues no tokens for the resource.',
    remedy: 'Name a resource that the grant has, and only one if its APIs need different tokens. Tokens stay valid.',
    reasons: {
      resource_malformed: 'not an absolute URI without fragment and user information, or more than 8',
      resource_unknown: 'no API is declared for it: `grantor api create`',
      resource_not_granted: 'the grant does not have it',
      tokens_differ:
        'the APIs need tokens of different formats or algorithms: name one `resource` ([apis.md](apis.md))',
      exchange_not_allowed:
        'the API does not list the caller: `grantor api update --exchange-from` ([exchange](tokens.md#exchange))',
      binding_differs:
        'one API accepts only bearer tokens, another one or the client only bound ones ([bound tokens](tokens.md#bound-tokens))',
    },
  },
  invalid_redirect_uri: {
    status: 400,
    description: 'A redirect URI is not allowed.',
    remedy: 'Correct the redirect URIs; `detail` names each.',
    reasons: {
      redirect_uri_not_allowed:
        'dangerous, ambiguous, or none can be used; `GRANTOR_REDIRECT_SCHEMES` allows more schemes of apps',
      domain_blocked: 'the host of a redirect URI (`grantor domain block`)',
    },
  },
  invalid_client_metadata: {
    status: 400,
    otherStatus: 'or 422 for the shape, 413, 415',
    description: 'The client metadata is malformed or not allowed.',
    remedy: 'Correct the metadata; `detail` names each fault.',
    reasons: {
      metadata_malformed: 'a field has the wrong type',
      metadata_not_allowed: 'a field has a value that is not allowed',
      json_malformed: 'no JSON, nested too deep, or too many or forbidden members',
      metadata_media_type: 'not `application/json`, or compressed',
      metadata_too_large: 'more than 16 KiB',
    },
  },
  temporarily_unavailable: {
    status: 503,
    otherStatus: 'or 429',
    description: 'The server cannot answer now. Try again later.',
    remedy: 'Wait as long as `Retry-After` says and repeat the request.',
    reasons: {
      too_many_requests:
        'the [rate](faults.md#what-callers-can-make-the-server-store) of the network or client is used up (429)',
      too_many_proofs: 'at userinfo, this key or network has sent too many proofs that have not ended (429)',
      store_unavailable: 'the database is locked, full, read-only or unreachable: [faults](faults.md)',
      client_document_unavailable:
        'the [metadata document](clients.md#metadata-documents) cannot be fetched or is not acceptable (log)',
      password_queue_full: 'too many sign-ins, or [slow secrets](moving.md#hydra)',
      overloaded: 'too many requests wait ([faults](faults.md#overload)); this one changed nothing',
      keys_unavailable: 'the keys at the `jwks_uri` cannot be fetched (`client.keys-unavailable`)',
      own_limit:
        'the server may not fetch a document or keys [now](faults.md#requests-of-the-server), or fetched them 30 seconds ago without the one that the assertion names',
      provider_unavailable: 'the keys of the provider cannot be fetched (`provider.failed`)',
      shutting_down: 'the process stops (`/health/ready`); use another node',
      clock_differs:
        'the node issues nothing, because its [clock differs](faults.md#a-clock-that-differs) by `ahead_ms`',
      store_went_back:
        'the store may have been [restored by other means](operations/backup.md#restored-by-other-means); the operator has to answer',
      client_changed_meanwhile: 'another request changed the client; read it and repeat your change',
    },
  },
  server_error: {
    status: 500,
    description: 'The server encountered an unexpected condition.',
    remedy: 'Report it: this is a bug.',
    reasons: {
      bug: 'the log line has the cause',
      body_consumed: 'a body parser has read the body: mount [Grantor](library.md) before it',
    },
  },
} as const satisfies Readonly<Record<string, Refusal>>

/** `a, b and c`. */
export function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ')
}
