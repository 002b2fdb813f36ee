import type { ProbedAnswer, ProbedDocument, ResourceProbe } from '../ports/inspection.ts'
import { slashVariant } from '../protocol/token/resource.ts'
import { ANSWER_LIMIT_MS, readObject, reasonOf } from './discovery.ts'

/** The first request of MCP clients. APIs that are not MCP servers also respond with 401. */
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'grantor-doctor', version: '1' },
  },
})

/**
 * Sends a request without a token to an API, as a client does, reads the API's metadata, and asks the issuer whether it knows
 * the API. `issuer` is undefined when no server responds as the issuer.
 */
export async function probeResource(url: string, issuer: string | undefined): Promise<ResourceProbe> {
  const withoutToken = await ask(url)
  const [withFalseToken, document] = await Promise.all([
    ask(url, 'Bearer not-a-token'),
    findDocument(url, withoutToken),
  ])
  const named = document.kind === 'found' ? document.resource : undefined
  const declared = issuer === undefined ? 'no-issuer' : await findDeclared(issuer, [named ?? url, url])
  return { url, withoutToken, withFalseToken, document, declared }
}

async function ask(url: string, authorization?: string): Promise<ProbedAnswer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: INITIALIZE,
    })
    await response.body?.cancel()
    const challenge = response.headers.get('www-authenticate') ?? undefined
    return { kind: 'answered', status: response.status, challenge }
  } catch (cause) {
    return { kind: 'unreachable', reason: reasonOf(cause) }
  }
}

/** Reads the document that the challenge names, or the well-known one. RFC 9728 §3.1, §5.1. Requests to another host are not sent. */
async function findDocument(url: string, answer: ProbedAnswer): Promise<ProbedDocument> {
  const challenge = answer.kind === 'answered' ? answer.challenge : undefined
  const address = documentAddress(challenge) ?? wellKnownAddress(url)
  if (!URL.canParse(address)) return { kind: 'none', address, reason: 'this is not a URL' }
  if (new URL(address).origin !== new URL(url).origin) {
    return { kind: 'none', address, reason: 'it is on another host, and was not requested' }
  }
  try {
    const response = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })
    const members = await readObject(response)
    if (members === undefined) return { kind: 'none', address, reason: `status ${response.status} and no JSON object` }
    return {
      kind: 'found',
      address,
      resource: typeof members['resource'] === 'string' ? members['resource'] : undefined,
      authorizationServers: textsOf(members['authorization_servers']),
      scopes: textsOf(members['scopes_supported']),
      requiresDpop: members['dpop_bound_access_tokens_required'] === true,
    }
  } catch (cause) {
    return { kind: 'none', address, reason: reasonOf(cause) }
  }
}

/** The `resource_metadata` of a challenge. RFC 9728 §5.1. */
function documentAddress(challenge: string | undefined): string | undefined {
  const [, quoted, bare] = /\bresource_metadata\s*=\s*(?:"([^"]*)"|([^\s,"]+))/i.exec(challenge ?? '') ?? []
  return quoted ?? bare
}

/** RFC 9728 §3.1: the well-known part is between the host and the path. */
function wellKnownAddress(url: string): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}${search}`
}

/** Returns the first of these texts that is declared, with or without a slash at the end. */
async function findDeclared(issuer: string, texts: readonly string[]): Promise<ResourceProbe['declared']> {
  let known: ResourceProbe['declared'] = 'undeclared'
  for (const text of new Set(texts.flatMap((one) => [one, slashVariant(one) ?? otherSlash(one)]))) {
    const found = await askIssuer(issuer, text)
    if (typeof found === 'object') return found
    if (found === 'unknown') known = 'unknown'
  }
  return known
}

function otherSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : `${text}/`
}

async function askIssuer(issuer: string, resource: string): Promise<ResourceProbe['declared']> {
  const address = `${issuer}/v2/oauth/protected-resource?${new URLSearchParams({ resource }).toString()}`
  try {
    const response = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })
    if (response.status === 404) return 'undeclared'
    const members = await readObject(response)
    if (typeof members?.['resource'] !== 'string') return 'unknown'
    return {
      resource: members['resource'],
      scopes: textsOf(members['scopes_supported']) ?? [],
      requiresDpop: members['dpop_bound_access_tokens_required'] === true,
    }
  } catch {
    return 'unknown'
  }
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}
