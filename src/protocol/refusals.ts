import { OFFERED_GRANT_TYPES } from './grant-types.ts'

/**
 * Every refusal of the server. OAuth clients read the code. The reason is for the log and docs/errors.md. The description is
 * fixed, so that a response reveals no more than its code. The exception is a refusal of scopes, whose description names them.
 */
export const REFUSALS = {
  invalid_request: {
    status: 400,
    description: 'The request lacks a parameter, repeats one, or has one that is malformed.',
    reasons: [
      'parameter_missing',
      'parameter_repeated',
      'parameter_malformed',
      'form_malformed',
      'two_client_authentications',
      'credentials_in_query',
      'user_mismatch',
      'organization_mismatch',
      'verifier_malformed',
      'insecure_transport',
      'headers_too_many',
      'grant_type_missing',
      'media_type_wrong',
      'body_too_large',
      'method_wrong',
      'path_unknown',
      'input_malformed',
    ],
  },
  invalid_client: {
    status: 401,
    description: 'The client is unknown or did not authenticate as it registered.',
    reasons: [
      'client_missing',
      'client_unknown',
      'client_disabled',
      'client_secret_missing',
      'client_secret_wrong',
      'client_secret_unexpected',
      'basic_malformed',
      'api_credentials_wrong',
    ],
  },
  invalid_token: {
    status: 401,
    description: 'The token for this request is missing, invalid, expired or revoked.',
    reasons: [
      'management_token_missing',
      'management_token_wrong',
      'admin_token_missing',
      'admin_token_wrong',
      'admin_token_inactive',
    ],
  },
  insufficient_scope: {
    status: 403,
    description: 'These credentials do not permit this request.',
    reasons: ['admin_may_only_read', 'admin_of_one_organization'],
  },
  not_found: {
    status: 404,
    description: 'The object of this request does not exist.',
    reasons: ['object_unknown'],
  },
  conflict: {
    status: 409,
    description: 'The current state of the object does not allow this.',
    reasons: ['state_differs'],
  },
  invalid_grant: {
    status: 400,
    description: 'The authorization code, its verifier or the refresh token is invalid, expired, used or revoked.',
    reasons: [
      'code_unknown',
      'code_expired',
      'code_replayed',
      'code_of_another_client',
      'redirect_uri_mismatch',
      'verifier_missing',
      'verifier_wrong',
      'refresh_unknown',
      'refresh_of_another_client',
      'refresh_expired',
      'refresh_not_yet_valid',
      'refresh_revoked',
      'refresh_reused',
      'resource_gone',
      'scope_gone',
      'user_not_live',
      'organization_not_live',
      'membership_not_live',
      'client_not_live',
      'everything_ended',
    ],
  },
  unauthorized_client: {
    status: 400,
    description: 'The client is not registered for this grant type, or is not allowed to use it.',
    reasons: ['grant_type_not_registered', 'client_public'],
  },
  unsupported_grant_type: {
    status: 422,
    description: `The grant type is not one of ${listed(OFFERED_GRANT_TYPES)}.`,
    reasons: ['grant_type_unknown'],
  },
  invalid_scope: {
    status: 400,
    description: 'The scope is malformed or exceeds what this client may request.',
    reasons: ['scope_malformed', 'scope_not_allowed', 'audience_ambiguous'],
  },
  invalid_target: {
    status: 400,
    description: 'This server issues no tokens for the resource.',
    reasons: ['resource_malformed', 'resource_unknown', 'resource_not_granted', 'tokens_differ'],
  },
  invalid_redirect_uri: {
    status: 400,
    description: 'A redirect URI is not allowed.',
    reasons: ['redirect_uri_not_allowed'],
  },
  invalid_client_metadata: {
    status: 400,
    description: 'The client metadata is malformed or not allowed.',
    reasons: [
      'metadata_malformed',
      'metadata_not_allowed',
      'json_malformed',
      'metadata_media_type',
      'metadata_too_large',
    ],
  },
  temporarily_unavailable: {
    status: 503,
    description: 'The server cannot answer now. Try again later.',
    reasons: [
      'too_many_requests',
      'store_unavailable',
      'password_queue_full',
      'overloaded',
      'shutting_down',
      'clock_differs',
      'client_changed_meanwhile',
    ],
  },
  server_error: {
    status: 500,
    description: 'The server encountered an unexpected condition.',
    reasons: ['bug'],
  },
} as const

/** `a, b and c`. */
function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ')
}
