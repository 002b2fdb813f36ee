/** Why an import refused a record, or took a part of it only. For its report; the command prints what each means. Markdown. */
export const IMPORT_REASONS = {
  line_malformed:
    'The line is no JSON object in UTF-8, has more than 1 MiB or 16 levels, or contains a NUL, half a surrogate pair or `__proto__`.',
  record_malformed:
    'A member is missing, unknown or malformed, or has a value that is not possible here; `detail` names it.',
  id_absent:
    'The file has no id of the user or organization, and applications know users by it. Let the other server write the file: `kc.sh export`.',
  hash_line_malformed:
    'A line of `--hashes` has no password of a user: it is no JSON object, or has no `_id` or no `passwordHash`. `line` is that of this file.',
  record_repeated: 'An earlier line of the file has the same id or address; `detail` names the line.',
  email_malformed: 'The text is no address with which a user can sign in here.',
  email_taken: 'Another user here has the address.',
  identity_taken: 'Another user here has one of the identities.',
  id_taken: 'A client here has the id of the user, or a user or an API has that of the client (RFC 9068 §5).',
  id_reserved: 'The id is like those that this server makes, or has characters that ids cannot have.',
  organization_unknown: 'The user belongs to an organization that neither the file nor this server has.',
  group_not_possible: 'The server cannot have the group: its organization does not exist, or it would be one too many.',
  second_factor_lost:
    'The account had a second factor that is not moved: anything but one authenticator app of the usual kind. `detail` names its kind as the file does. Only `--without-second-factor` imports such a file.',
  client_not_possible: 'The server cannot have such a client; `detail` says why.',
  secret_absent:
    'The file has no secret of the client, a placeholder, one that expires, or a hash that cannot be used. With `--secrets` the client gets a new one.',
  secret_guessable: 'The secret is short or has few different characters. With `--secrets` the client gets a new one.',
  redirect_uri_refused:
    'One URI of the client is not taken, because it has a wildcard, cannot be registered, or no grant type of the client needs it; `detail` is the URI, other characters as `\\u{…}`.',
  member_dropped:
    'Members of the client were not taken, because they have no meaning here or a value that is not possible here; `detail` names them. What they gave or restricted there is not so here.',
  id_replaced: 'The id cannot be one here, so the user got another. The report has both.',
  hash_unsupported: 'Imported without a password: its hash is of no known format.',
  hash_too_expensive: 'Imported without a password: its hash takes too long to verify.',
  password_not_used:
    'A password was not taken: the account cannot sign in with one here, had to be given a new one, or has it by a linked account.',
  ban_unlimited: 'The account was disabled for a time, and stays disabled here until `grantor user enable`.',
  address_absent:
    'The user has no address, and so neither a password nor a link. Set one first: `grantor user set-email`, then `grantor user create-link`.',
  identity_dropped:
    'An identity was not taken: no `--provider` names its provider, its subject is malformed, or the provider gives each client another one.',
  group_dropped:
    'The user is not in a group: neither the file nor this server has it, its id cannot be one here, or the user is no member of its organization. `detail` names it.',
  not_openid: 'Skipped: the client speaks SAML or another protocol.',
  bearer_only: 'Skipped: the client only receives tokens, as an API does here.',
  part_of_system: 'Skipped: the record belongs to the other server itself, or to a client.',
  user_elsewhere: 'Skipped: the account is in a directory such as LDAP.',
  user_absent: 'Skipped: `--hashes` has a password of the user, whom the export does not have.',
  needs_link: 'The user has no way to sign in. Hand over a link: `grantor user create-link`.',
} as const satisfies Readonly<Record<string, string>>

export type ImportReason = keyof typeof IMPORT_REASONS
