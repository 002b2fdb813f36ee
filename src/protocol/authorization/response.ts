/** `form_post`: the browser posts the response as a form. OAuth 2.0 Form Post Response Mode §2. */
export type ResponseMode = 'query' | 'form_post'

/** The authorization response, which the browser carries to the client. */
export type AuthorizationAnswer =
  | { readonly kind: 'code'; readonly code: string }
  | {
      readonly kind: 'error'
      readonly error: AuthorizationErrorCode
      /** For the client's developer, not for the user (RFC 6749 §4.1.2.1). */
      readonly description: string
    }

/** RFC 6749 §4.1.2.1, RFC 8707 §2, OpenID Connect Core §3.1.2.6, Unmet Authentication Requirements 1.0 §2. */
export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'login_required'
  | 'interaction_required'
  | 'temporarily_unavailable'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'unmet_authentication_requirements'

/**
 * The parameters of the authorization response. RFC 6749 §4.1.2. RFC 9207 §2: every response has `iss`, so that a client knows
 * which server sent it.
 */
export function answerParameters(
  answer: AuthorizationAnswer,
  state: string | undefined,
  issuer: string,
): Readonly<Record<string, string>> {
  return {
    ...(answer.kind === 'code'
      ? { code: answer.code }
      : { error: answer.error, error_description: answer.description }),
    ...(state === undefined ? {} : { state }),
    iss: issuer,
  }
}

/** The redirect URI with the authorization response in its query. RFC 6749 §4.1.2: a query of the registered URI is kept. */
export function answerUri(
  redirectUri: string,
  answer: AuthorizationAnswer,
  state: string | undefined,
  issuer: string,
): string {
  return withParameters(redirectUri, answerParameters(answer, state, issuer))
}

/** A redirect URI with these parameters in its query. */
export function withParameters(redirectUri: string, parameters: Readonly<Record<string, string>>): string {
  // Parameters are appended as text: a URL object would rewrite private-use URIs and empty paths, which clients compare.
  const query = Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  return query === '' ? redirectUri : redirectUri + separatorAfter(redirectUri) + query
}

/** Only the first `?` begins the query; a later one is part of a value. */
function separatorAfter(redirectUri: string): '?' | '&' | '' {
  const mark = redirectUri.indexOf('?')
  if (mark === -1) return '?'
  return mark === redirectUri.length - 1 || redirectUri.endsWith('&') ? '' : '&'
}
