import { forShell } from '../base/shell.ts'
import type { DeclaredResource, ProbedAnswer, ProbedDocument, ResourceProbe } from '../ports/inspection.ts'
import { failed, ok, warning, type Finding } from './finding.ts'

const CHECK = 'resource'
type FoundDocument = Extract<ProbedDocument, { readonly kind: 'found' }>

/** Checks an API or MCP server as its clients see it: its 401, its metadata, and its declaration (docs/mcp.md). */
export function checkResource(probe: ResourceProbe, issuer: string): readonly Finding[] {
  const { url, withoutToken, withFalseToken, document } = probe
  if (withoutToken.kind === 'unreachable') {
    return [failed(CHECK, `${url} cannot be reached: ${withoutToken.reason}.`, 'Start the server, or correct the URL.')]
  }
  return [
    ...checkChallenge(url, withoutToken),
    ...checkFalseToken(url, withFalseToken),
    ...(document.kind === 'none'
      ? [
          failed(
            CHECK,
            `There is no protected resource metadata at ${document.address}: ${document.reason}.`,
            'Serve it there (RFC 9728); docs/mcp.md shows how. Without it clients do not find this issuer.',
          ),
        ]
      : [
          ...checkResourceName(probe, document),
          ...(probe.declared === 'no-issuer'
            ? [checkMissingIssuer(issuer)]
            : [
                ...checkIssuers(document, issuer),
                ...checkScopes(document, probe.declared),
                ...checkBinding(document, probe.declared, withoutToken.challenge),
              ]),
        ]),
  ]
}

/** The settings may be wrong, and not the resource. So only what needs no answer of the issuer is reported. */
function checkMissingIssuer(issuer: string): Finding {
  return failed(
    CHECK,
    `No server responds as the issuer ${issuer}, so the authorization server, the declaration and the scopes were not compared.`,
    'Start the server, or check GRANTOR_ISSUER and PORT: give this command the settings of the server that runs.',
  )
}

/** The 401 names the metadata (RFC 9728 §5.1). */
function checkChallenge(url: string, { status, challenge }: Extract<ProbedAnswer, { kind: 'answered' }>) {
  if (status >= 200 && status < 300) {
    return [
      failed(
        CHECK,
        `${url} responds with ${status} to a request without a token.`,
        'Let it reject such requests with 401.',
      ),
    ]
  }
  if (status !== 401) {
    return [
      failed(
        CHECK,
        `${url} responds with ${status} to a request without a token; clients start only after 401.`,
        status >= 300 && status < 400
          ? 'Give clients, and this command, the address that it redirects to.'
          : 'Check that this is the address that clients connect to, and that it returns 401 before it reads the request.',
      ),
    ]
  }
  if (challenge === undefined || !/\bresource_metadata\s*=/i.test(challenge)) {
    return [
      warning(
        CHECK,
        `The 401 has ${challenge === undefined ? 'no WWW-Authenticate header' : 'no resource_metadata in its WWW-Authenticate header'}; some clients do not look for the document without it.`,
        'Add the header: WWW-Authenticate: Bearer resource_metadata="<address of the document>". FastMCP does so with RemoteAuthProvider.',
      ),
    ]
  }
  return [ok(CHECK, `${url} responds with 401 and names its metadata document.`)]
}

function checkFalseToken(url: string, answer: ProbedAnswer): readonly Finding[] {
  if (answer.kind === 'unreachable' || answer.status === 401) return []
  const isAccepted = answer.status >= 200 && answer.status < 300
  return [
    failed(
      CHECK,
      `${url} responds with ${answer.status} instead of 401 to a token that no server issued.`,
      isAccepted
        ? 'Check the token: docs/mcp.md shows how.'
        : 'Look at its log: it may not reach the issuer, or introspection may reject its credentials (grantor api create-credentials).',
    ),
  ]
}

/** The `resource` of the metadata is the address of the API (RFC 9728 §3.3, RFC 8707 §2). */
function checkResourceName({ url, declared }: ResourceProbe, { resource }: FoundDocument): readonly Finding[] {
  if (resource === undefined) {
    return [failed(CHECK, 'The document has no resource.', `Add "resource": "${url}".`)]
  }
  if (!isAtOrBelow(url, resource)) {
    return [
      failed(
        CHECK,
        `The resource in the document is ${resource}, which is not ${url}; clients reject it.`,
        'Set resource to the address that clients connect to. Behind a proxy it is the public address.',
      ),
    ]
  }
  if (declared === 'unknown' || declared === 'no-issuer') return []
  if (declared === 'undeclared') {
    return [
      failed(
        CHECK,
        `${resource} is not declared, so requests for its tokens are rejected (invalid_target).`,
        `Run: grantor api create --resource ${forShell(resource)} --scope <name>=<sentence>`,
      ),
    ]
  }
  if (declared.resource !== resource) {
    return [
      failed(
        CHECK,
        `The resource in the document is ${resource}, but the API is declared as ${declared.resource}, which is the audience of its tokens.`,
        'Use the same text, byte for byte, in the document, the declaration, and where the API compares the audience.',
      ),
    ]
  }
  return [ok(CHECK, `${resource} is declared.`)]
}

/** Compares as the MCP SDKs do: the origin is the same, and the path of the resource is a prefix of the path of the address. */
function isAtOrBelow(url: string, resource: string): boolean {
  if (!URL.canParse(resource)) return false
  const [asked, named] = [new URL(url), new URL(resource)]
  const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`)
  return asked.origin === named.origin && withSlash(asked.pathname).startsWith(withSlash(named.pathname))
}

/** RFC 8414 §3.3: clients compare the issuer byte for byte. */
function checkIssuers({ authorizationServers }: FoundDocument, issuer: string): readonly Finding[] {
  const listed = authorizationServers ?? []
  if (listed.length === 0) {
    const remedy = `Add "authorization_servers": ["${issuer}"].`
    return [failed(CHECK, 'The document names no authorization server.', remedy)]
  }
  if (listed.includes(issuer)) {
    if (listed[0] === issuer) return [ok(CHECK, `The document names ${issuer} as its authorization server.`)]
    return [
      warning(
        CHECK,
        `The document names ${listed[0]} before ${issuer}; most clients use the first.`,
        'Name the issuer first.',
      ),
    ]
  }
  if (listed.includes(`${issuer}/`)) {
    return [
      failed(
        CHECK,
        `The document names ${issuer}/ as its authorization server, but the issuer is ${issuer}: clients fail with "issuer mismatch".`,
        "Write the issuer without the slash. pydantic's AnyHttpUrl adds one: give FastMCP's authorization_servers a plain str.",
      ),
    ]
  }
  return [
    failed(
      CHECK,
      `The document names ${listed.join(' and ')} as its authorization server, and not ${issuer}.`,
      `Set "authorization_servers": ["${issuer}"], as GRANTOR_ISSUER is written.`,
    ),
  ]
}

function checkScopes({ scopes }: FoundDocument, declared: ResourceProbe['declared']): readonly Finding[] {
  if (typeof declared === 'string' || scopes === undefined) return []
  if (scopes.length === 0) {
    if (declared.scopes.length === 0) return []
    return [
      warning(
        CHECK,
        'scopes_supported is empty, so clients request no scope and get the default of the API: each scope declared with --scope or --machine-scope.',
        `If clients should request scopes, name them (${declared.scopes.join(', ')}); otherwise leave the member out. In FastMCP: RemoteAuthProvider(scopes_supported=[…]).`,
      ),
    ]
  }
  return checkListed(scopes, declared)
}

function checkListed(scopes: readonly string[], declared: DeclaredResource): readonly Finding[] {
  const others = scopes.filter((one) => !declared.scopes.includes(one))
  if (others.length === 0) return [checkMissing(scopes, declared)]
  const message = `scopes_supported lists ${others.join(', ')}, which ${declared.resource} does not grant to every client.`
  const remedy = `It grants: ${declared.scopes.join(', ') || 'none'}. Correct the list, or declare the rest: grantor api update ${forShell(declared.resource)} --scope <name>=<sentence>`
  return [others.length === scopes.length ? failed(CHECK, message, remedy) : warning(CHECK, message, remedy)]
}

/** MCP clients request what the list has. RFC 6750 §3.1: with insufficient_scope a server asks for more later. */
function checkMissing(scopes: readonly string[], declared: DeclaredResource): Finding {
  const missing = declared.scopes.filter((one) => !scopes.includes(one)).join(', ')
  if (missing === '') return ok(CHECK, `All of its scopes are declared (${scopes.join(', ')}).`)
  return warning(
    CHECK,
    `scopes_supported lists ${scopes.join(', ')} and not ${missing}, so clients do not request ${missing}.`,
    'List every scope that a tool needs, or leave the member out; unless the server asks for the others by 403 and insufficient_scope.',
  )
}

/** Clients that do not learn from the API that they need a proof send bearer requests. RFC 9449 §7.1, RFC 9728 §2. */
function checkBinding(
  document: FoundDocument,
  declared: ResourceProbe['declared'],
  challenge: string | undefined,
): readonly Finding[] {
  if (typeof declared === 'string' || !declared.requiresDpop) return []
  const missing = [
    ...(document.requiresDpop ? [] : ['its document has no "dpop_bound_access_tokens_required": true']),
    ...(/(^|,)\s*DPoP\b/i.test(challenge ?? '') ? [] : ['its 401 has no challenge with the scheme DPoP']),
  ]
  if (missing.length === 0) return [ok(CHECK, 'The document and the 401 say that tokens are bound to a key.')]
  return [
    warning(
      CHECK,
      `${declared.resource} is declared with --binding dpop, but ${missing.join(', and ')}.`,
      'Add it, and let the API check proofs: docs/tokens.md#bound-tokens.',
    ),
  ]
}
