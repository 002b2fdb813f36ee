/** A maximum that a caller or an operator meets. docs/maxima.md is generated from the table. */
export interface Maximum {
  readonly most: number
  readonly unit: 'bytes' | 'characters' | 'bits' | 'seconds' | 'entries'
  /** What the number bounds, in words that complete the row of a table. */
  readonly of: string
  /** The section that gives the number, or the reason for it. Absent: no specification has one. */
  readonly source?: string
}

/**
 * The maxima of sizes and counts. They have one table because they have to fit together: what the server makes at one of them must be
 * within the others, so that the server, its commands and its API read it. test/maxima compares what is made with what is
 * read. Rates and lifetimes are settings, and what callers can make the server store is in docs/faults.md.
 */
export const MAXIMA = {
  // The declaration of APIs.
  apis: { most: 1000, unit: 'entries', of: 'APIs of a server' },
  scopesOfApi: { most: 100, unit: 'entries', of: 'Scopes of an API' },
  scopeName: { most: 100, unit: 'characters', of: 'Name of a scope', source: 'RFC 6749 §3.3 has none' },
  /** Less than a token has, so that a client can get all scopes of an API in one token. */
  apiTexts: {
    most: 4096,
    unit: 'characters',
    of: 'Identifier of an API and the names of its scopes together, with a space for each scope',
  },
  displayText: { most: 200, unit: 'characters', of: 'Name of an API, an organization or a user; sentence of a scope' },
  exchangeRules: { most: 20, unit: 'entries', of: 'APIs whose tokens an API takes in exchange' },

  // The scope and the audience of a request and of a token.
  scopesOfRequest: { most: 250, unit: 'entries', of: 'Scopes of a request, a registration or a token' },
  advertisedScopes: {
    most: 240,
    unit: 'entries',
    of: 'Scopes of APIs in the metadata of the server. With more, it lists those of OpenID Connect alone',
    source: 'RFC 8414 §2: a server need not list all',
  },
  advertisedTexts: { most: 4096, unit: 'characters', of: 'The same together, with a space for each' },
  resource: {
    most: 2048,
    unit: 'characters',
    of: 'Resource, the identifier of an API',
    source: 'RFC 8707 §2 has none',
  },
  resourcesOfRequest: { most: 8, unit: 'entries', of: 'Resources of a request' },
  tokenTexts: {
    most: 4096,
    unit: 'characters',
    of: 'Scopes of APIs, resources and acting APIs of a token together, with a space for each',
  },

  // Tokens and what clients sign.
  accessToken: { most: 8192, unit: 'characters', of: 'Access token' },
  idToken: {
    most: 6144,
    unit: 'characters',
    of: 'ID token. With more, the claims of the user are at userinfo alone',
    source: 'a hint is in an address or is pushed',
  },
  idTokenHint: { most: 8192, unit: 'characters', of: '`id_token_hint`' },
  clientAssertion: { most: 7168, unit: 'characters', of: 'Client assertion', source: 'a body has it beside a token' },
  identityAssertion: { most: 8192, unit: 'characters', of: 'Identity assertion of a provider (ID-JAG)' },
  proof: { most: 4096, unit: 'characters', of: 'DPoP proof' },
  groupsOfToken: {
    most: 100,
    unit: 'entries',
    of: 'Groups in a token. With more, they are at userinfo and in introspection alone',
  },
  groupsInToken: { most: 4096, unit: 'bytes', of: 'The same, as JSON' },
  jwtId: { most: 256, unit: 'characters', of: '`jti` and `kid` of what a client or a provider signs' },
  actors: { most: 4, unit: 'entries', of: 'Parties in the `act` of a token' },

  // Requests.
  body: { most: 16 * 1024, unit: 'bytes', of: 'Body of a request' },
  adminBody: { most: 256 * 1024, unit: 'bytes', of: 'Body of a request of an administrator who has authenticated' },
  bodyChunks: { most: 512, unit: 'entries', of: 'Chunks of a body' },
  bodyRead: { most: 512 * 1024, unit: 'bytes', of: 'Bytes that are read of an oversized body' },
  headers: {
    most: 16 * 1024,
    unit: 'bytes',
    of: 'Headers of a request, with its URL',
    source: 'the default of Node.js',
  },
  headerFields: { most: 100, unit: 'entries', of: 'Header fields of a request' },
  parameters: { most: 100, unit: 'entries', of: 'Parameters of a form or a query' },
  consoleParameters: { most: 800, unit: 'entries', of: 'Fields of a form of the console' },
  state: { most: 4096, unit: 'bytes', of: '`state`, as it is stored' },
  nonce: { most: 1024, unit: 'characters', of: '`nonce`' },
  claimsParameter: { most: 4096, unit: 'characters', of: '`claims`' },
  claims: { most: 40, unit: 'entries', of: 'Claims in `claims`' },
  address: {
    most: 8000,
    unit: 'characters',
    of: 'Address that a form of another site is sent on as',
    source: 'RFC 9110 §4.1',
  },
  pushedParameters: { most: 8192, unit: 'characters', of: 'Parameters of a pushed request' },

  // Clients.
  registration: { most: 8192, unit: 'bytes', of: 'Metadata of a client, as they are stored' },
  registeredScope: { most: 4608, unit: 'characters', of: '`scope` of a registration' },
  metadataList: { most: 10, unit: 'entries', of: 'Redirect URIs, contacts and other lists of a registration' },
  uri: { most: 2048, unit: 'characters', of: 'URI of a registration; redirect URI of a request' },
  clientUrl: { most: 512, unit: 'characters', of: 'URL of a client with a metadata document' },
  clientName: { most: 128, unit: 'characters', of: 'Name of a client' },
  clientKeys: { most: 20, unit: 'entries', of: 'Keys of a client', source: 'RFC 7517 §5 has none' },
  softwareId: { most: 256, unit: 'characters', of: '`software_id` of a registration' },
  softwareVersion: { most: 128, unit: 'characters', of: '`software_version` of a registration' },
  redirectHosts: { most: 20, unit: 'entries', of: 'Redirect hosts of an initial access token' },
  email: { most: 254, unit: 'characters', of: 'E-mail address', source: 'RFC 5321 §4.5.3.1.3' },

  // What an operator keeps.
  signingKeys: { most: 20, unit: 'entries', of: 'Published keys of the server' },
  domainRules: { most: 1000, unit: 'entries', of: 'Rules for domains' },
  providers: { most: 1000, unit: 'entries', of: 'Providers of a server' },
  domainPattern: { most: 512, unit: 'characters', of: 'Pattern of a rule for domains' },
  providerList: { most: 100, unit: 'entries', of: 'Domains, and private hosts, of a provider' },
  providerGroups: { most: 200, unit: 'entries', of: 'Values of the groups claim of a provider, each with a group' },
  providerGroupValue: { most: 256, unit: 'characters', of: 'Such a value. Longer ones mean no group' },
  providerGroupValues: {
    most: 1000,
    unit: 'entries',
    of: 'Values of the groups claim of a provider. With more, what it said before stays',
  },
  assertionList: { most: 20, unit: 'entries', of: 'Clients, and APIs, of the identity assertions of a provider' },
  password: { most: 1024, unit: 'bytes', of: 'Password' },
  profile: { most: 8192, unit: 'bytes', of: 'Profile of a user, as it is stored' },
  memberships: { most: 100, unit: 'entries', of: 'Organizations of a user' },
  groups: { most: 5000, unit: 'entries', of: 'Groups of the server' },
  groupsOfOrganization: { most: 200, unit: 'entries', of: 'Groups of an organization' },
  protectedGroups: { most: 100, unit: 'entries', of: 'Protected groups' },
  groupWords: { most: 100, unit: 'entries', of: 'Groups that a client or an API reads under words of its own' },
  groupWord: { most: 128, unit: 'characters', of: 'Word of a client or an API for a group' },
  accessRules: { most: 200, unit: 'entries', of: 'Access rules of the server' },
  accessRule: { most: 8192, unit: 'bytes', of: 'Access rule, as it is stored, or all rules of an organization' },
  accessRulesOfOrganization: { most: 20, unit: 'entries', of: 'Access rules of an organization' },
  accessTerms: { most: 50, unit: 'entries', of: 'Clients, kinds of access, or people of an access rule' },
  groupsOfUser: {
    most: 200,
    unit: 'entries',
    of: 'Groups of a user of the server, or of an organization, of each source',
  },
  groupsOfAnswer: {
    most: 100,
    unit: 'entries',
    of: 'Groups of a person, as the application says them that signs users in',
  },
  passkeys: { most: 20, unit: 'entries', of: 'Passkeys of a user' },
  sessions: { most: 200, unit: 'entries', of: 'Sessions of a user' },
  browsers: { most: 20, unit: 'entries', of: 'Browsers that are remembered of a user' },

  // Files.
  appliedSets: { most: 20, unit: 'entries', of: 'Sets of `grantor apply`' },
  appliedRecords: { most: 1000, unit: 'entries', of: 'Records of a set' },
  appliedChanges: { most: 100, unit: 'entries', of: 'Records that a request adds to a set, or removes from it' },
  appliedSet: {
    most: 1_000_000,
    unit: 'bytes',
    of: 'Records of a set together, as a line of a backup',
    source: 'less than a line',
  },
  appliedFile: { most: 1024 * 1024, unit: 'bytes', of: 'File for `grantor apply`' },
  backupHeader: { most: 64 * 1024, unit: 'bytes', of: 'First line of a backup' },
  backupLine: { most: 1024 * 1024, unit: 'bytes', of: 'Line of a backup or an export, which is a row of the store' },
} as const satisfies Readonly<Record<string, Maximum>>
