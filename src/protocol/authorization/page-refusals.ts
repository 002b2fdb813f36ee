/**
 * Why a page refuses a request for which no address is known to be safe: for each subject of an error page, the reason for the log, and
 * what it means, for the log and for the developers who open "For developers" on the page.
 */
export const PAGE_REFUSALS = {
  'client-unknown': {
    client_id_missing: 'The request has no client_id.',
    client_id_malformed: 'The client_id is neither the id of a client nor the URL of a metadata document.',
    client_unknown: 'The client was never registered, was deleted, or got no token within a day of its registration.',
    client_url_unusable: 'No metadata document may be fetched from the URL in client_id: see docs/clients.md.',
    client_disabled: 'The operator disabled the client (grantor client disable).',
  },
  'client-unidentified': {
    client_document_unavailable:
      'The metadata document of the client cannot be fetched: see client.document-unavailable in the log.',
    client_document_unacceptable:
      'The metadata document of the client is not acceptable: see client.document-unacceptable in the log.',
  },
  'client-not-allowed': {
    client_not_allowed:
      'The operator blocked a domain of the client, or accepts no clients of this kind (GRANTOR_CLIENT_DOCUMENTS).',
  },
  'redirect-missing': {
    redirect_uri_missing:
      'Only a client with a single redirect URI may leave out redirect_uri, and no public client of this computer.',
  },
  'redirect-unknown': {
    redirect_uri_malformed: 'The redirect_uri is not an absolute URI.',
    redirect_uri_not_registered:
      'The redirect_uri is not one of the client, byte for byte: register it. Only the port of a loopback address may differ.',
  },
  'redirect-not-allowed': {
    redirect_uri_not_allowed:
      'The client registered the redirect_uri, and this server does not allow it: GRANTOR_REDIRECT_SCHEMES allows addresses of apps. None may lead to this server.',
  },
  'request-malformed': {
    parameter_repeated: 'A parameter is sent twice.',
    decision_missing: 'The form of the consent page has no decision.',
    form_field_malformed: 'A field of the form is missing, or names nothing of this user.',
    page_unknown: 'The sign-in page was requested for an account page that does not exist.',
    post_too_large: 'A POST to this endpoint has a query, or more parameters than fit into an address.',
    logout_malformed: 'The logout request repeats a parameter, or has a long state or an ID token of another client.',
  },
  expired: {
    authorization_unknown: 'The authorization request does not exist, or was deleted after it ended.',
    authorization_expired: 'The authorization request was not finished in time (GRANTOR_AUTHORIZATION_LIFETIME).',
    client_changed: 'The name or a host of a redirect URI of the client changed after the request.',
    redirect_uri_removed: 'The client removed the redirect URI of the request.',
    pushed_request_expired:
      'The request_uri is not of this server, or was opened too late (GRANTOR_PUSHED_LIFETIME after the push).',
    pushed_request_of_another: 'The client_id is not the client that pushed the request.',
    pushed_request_approved: 'The pushed request was approved before: push another one.',
    interaction_unknown: 'The interaction of a delegated sign-in does not exist, or was deleted after it ended.',
    interaction_expired: 'The interaction of a delegated sign-in has expired, or sign-in is no longer delegated.',
    everything_ended: 'The operator revoked all tokens of the server after the sign-in.',
    provider_state_expired: 'The browser came back from the provider too late.',
    identity_proof_gone: 'The request to connect an account at a provider has expired, or a newer one replaced it.',
  },
  'link-invalid': {
    link_unusable: 'The link is incomplete, used, replaced or expired, or its user was disabled or changed since.',
    link_without_method:
      'The user of the link can have neither a password nor a passkey here, and no provider is offered for the address.',
  },
  'provider-failed': {
    provider_unreachable: 'The provider does not answer: see provider.failed in the log.',
    provider_not_confirmed:
      'The provider did not confirm who the user is, or the account cannot have this sign-in method.',
  },
  'identity-taken': {
    identity_taken: 'The account at the provider is a sign-in method of another user.',
  },
  'other-browser': {
    browser_differs: 'The browser has no cookie of the browser that started the request.',
  },
  'already-completed': {
    authorization_decided: 'The authorization request has ended: it was approved or denied, or its code was redeemed.',
    pushed_request_used: 'The pushed request was approved in another tab or browser.',
    answer_used: 'The answer of the application that signs users in was used, and its session has ended.',
    provider_state_used: 'The address to which the provider sent the browser was opened before.',
  },
  'user-changed': {
    user_changed: 'Another user signed in after the page was shown.',
  },
  forged: {
    form_of_another_site: 'A page of another site sent the form (Sec-Fetch-Site).',
    form_token_wrong: 'The form was made for another browser, user or request: its csrf does not match.',
    answer_proof_wrong: 'The address of the return from the application that signs users in has a wrong proof.',
    provider_state_wrong: 'The state of the callback was not made by this server for this provider.',
  },
  'not-found': {
    path_unknown: 'There is nothing at this path.',
    provider_gone: 'The provider of the callback was deleted meanwhile.',
    mail_off: 'The server sends no mail (GRANTOR_SMTP_URL), or the address of the user belongs to a provider.',
    not_delegated: 'Sign-in is not delegated to an application (GRANTOR_DELEGATE_URL).',
  },
  'sign-in-failed': {
    host_sign_in_failed: 'The function signIn of the program has failed. The log has the cause.',
  },
} as const

/** The subject of an error page that an endpoint shows. */
export type PageProblem = keyof typeof PAGE_REFUSALS
/** Why an endpoint shows an error page. Each reason belongs to one subject. */
export type PageReason = ReasonOf<PageProblem>
export type ReasonOf<Subject extends PageProblem> = {
  [Problem in Subject]: keyof (typeof PAGE_REFUSALS)[Problem]
}[Subject]

/**
 * Why a page is shown again with a message beside its form, and what that means, for the log. The sign-in page shows the reasons that no
 * one can correct on the page to developers, too.
 */
export const FORM_REFUSALS = {
  'wrong-credentials': 'The address has no account, or the password is wrong.',
  disabled: 'The password of a disabled account is right; the page says that it is wrong.',
  'email-missing': 'The form has no address.',
  'address-unknown': 'Passwords are off, and no enabled provider has the domain of the address.',
  'password-missing': 'The form has no password.',
  'password-too-long': 'The password has more than 1,024 bytes.',
  'second-step-wrong': 'The first step was right, and the code or the passkey of the second step is wrong.',
  'second-step-used': 'The code of the authenticator app was accepted before.',
  'second-step-locked':
    'After 100 wrong codes since the last success, codes of browsers in which the account has not signed in are refused.',
  'second-step-expired':
    'The second step came more than ten minutes after the first, or a second time, or the account changed between them.',
  'passkey-invalid': 'The answer of the browser to a passkey failed a check, which the log names.',
  'passkey-taken': 'The user has added the passkey before.',
  'passkeys-full': 'The user has 20 passkeys.',
  'passkey-unknown': 'The passkey is of no user here. It may have been removed.',
  'provider-off': 'The operator disabled the provider (grantor provider enable).',
  'method-off': 'The operator switched the sign-in method or the provider off.',
  'account-refused':
    'The account is disabled, was deleted or changed meanwhile, or another provider is required for its address.',
  'application-refused': 'The application that signs users in rejected the sign-in for an account page.',
  'not-answered': 'The browser came back from the application that signs users in without an answer.',
  'provider-down': 'The provider does not answer: see provider.failed in the log.',
  'provider-failed':
    'The person cancelled, or the provider did not confirm who the user is: see provider.failed in the log.',
  'provider-not-fresh':
    'A new sign-in was asked for (prompt=login, max_age), and the auth_time of the provider is older.',
  'no-account': 'No account is linked to the account at the provider, and the provider creates none.',
  'identity-taken': 'The account at the provider was linked to another account meanwhile.',
  throttled: 'Too many attempts of this network, or for this account.',
  busy: 'Too many passwords wait to be checked.',
  'organization-missing': 'The user allowed the request without choosing an organization.',
  'organization-gone': 'The user is no longer a member of the chosen organization.',
  'scope-missing': 'The user unchecked all scopes of an API.',
  'device-unconfirmed':
    'The device is in another network, and the user allowed it without checking the box that it is an own one.',
  'user-code-missing': 'The form has no code of a device.',
  'user-code-wrong':
    'The code of a device is wrong, has expired, or was used; or its client can no longer have the device grant.',
  'email-unchanged': 'The address is the own one already.',
  'email-of-provider': 'Users with the new address, or with the one that it replaces, sign in at a provider only.',
  'email-code-wrong': 'The code of an address is wrong, and can be tried again.',
  'email-code-void':
    'The code of an address has expired, was used, replaced or wrong five times, or the account changed.',
  'email-taken': 'The code was right, and another account has the address.',
  'name-unusable': 'The name is too long or has characters that would reorder or hide text.',
  'password-too-short': 'The new password is too short.',
  'password-common':
    'The new password is a common one, or made of the address, a name or fewer than five different characters.',
  'passwords-differ': 'The new password and its repetition differ.',
} as const
export type FormReason = keyof typeof FORM_REFUSALS
