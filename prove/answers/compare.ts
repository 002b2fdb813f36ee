/** A request and its answer, as they were sent. */
export interface Answer {
  readonly method: string
  readonly url: string
  /** '' for none. */
  readonly payload: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Comparison {
  /** `appearance`: a page with another style sheet or white space. `text`: a page that differs otherwise, with equal status and headers. */
  readonly kind: 'equal' | 'appearance' | 'text' | 'different'
  /** The request, and in what the answers to it differ. */
  readonly line: string
}

/** What differs by name, with both values. */
type Differences = ReadonlyMap<string, readonly [one: string, other: string]>
/** The parts of an answer by their names. */
type Parts = Readonly<Record<string, string>>

const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g
/** The name of the one part that the body of a page is. */
const PAGE = 'page'
const SHOWN = 60

/** Compares the answers to the same requests in their order. An answer that only one of them has is different. */
export function compareAnswers(ones: readonly Answer[], others: readonly Answer[]): readonly Comparison[] {
  return Array.from({ length: Math.max(ones.length, others.length) }, (_, index) => {
    const [one, other] = [ones[index], others[index]]
    if (one !== undefined && other !== undefined) return compare(index, one, other)
    const asked = one ?? other
    return { kind: 'different', line: `${index} ${asked === undefined ? '' : nameOf(asked)}: only one was asked` }
  })
}

/** Whether an answer issued an access token. */
export function hasToken({ status, body }: Answer): boolean {
  return status === 200 && body.includes('"access_token":"')
}

function compare(index: number, one: Answer, other: Answer): Comparison {
  const exact = differencesOf(partsOf(one), partsOf(other))
  const seen = differencesOf(partsOf(withoutAppearance(one)), partsOf(withoutAppearance(other)))
  const shown = [...seen].map(([name, [before, after]]) => `${name} ${before} | ${after}`)
  const line = `${index} ${nameOf(one)}: ${shown.join(', ')}`
  if (exact.size === 0) return { kind: 'equal', line }
  if (seen.size === 0) return { kind: 'appearance', line }
  return { kind: seen.has(PAGE) && seen.size === 1 ? 'text' : 'different', line }
}

function nameOf({ method, url }: Answer): string {
  return `${method} ${url.replace(/\?.*/, '')}`
}

/** Both values of a difference begin shortly before the place where they differ. */
function differencesOf(one: Parts, other: Parts): Differences {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  const differing = [...names].filter((name) => one[name] !== other[name])
  return new Map(
    differing.map((name) => {
      const [before = 'none', after = 'none'] = [one[name], other[name]]
      let same = 0
      while (before[same] === after[same]) same += 1
      const from = Math.max(0, same - SHOWN / 3)
      return [name, [before.slice(from, from + SHOWN), after.slice(from, from + SHOWN)]]
    }),
  )
}

function partsOf(answer: Answer): Parts {
  const { method, url, payload, status, headers, body } = answer
  return {
    request: opened(`${method} ${url} ${payload}`),
    status: String(status),
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`header ${name}`, opened(value)])),
    ...(isPage(answer) ? { [PAGE]: body } : bodyParts(answer)),
  }
}

/** The members of a JSON object. Another body is one part. */
function bodyParts({ headers, body }: Answer): Parts {
  if (!(headers['content-type'] ?? '').includes('json')) return { body: opened(body) }
  const members = Object.entries(JSON.parse(body) as object)
  return Object.fromEntries(members.map(([name, value]) => [`member ${name}`, opened(JSON.stringify(value))]))
}

/** Replaces each JWT by what it says, without what follows from a key that the server makes when it starts. RFC 7515 §3.1. */
function opened(text: string): string {
  return text.replace(JWT, (token) => {
    const [header, payload] = token
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object)
    return JSON.stringify([
      { ...header, kid: undefined },
      { ...payload, at_hash: undefined },
    ])
  })
}

/** A page without its style sheet, the digest of it in the policy, white space, and the length that follows from them. */
function withoutAppearance(answer: Answer): Answer {
  if (!isPage(answer)) return answer
  const { 'content-length': _, 'content-security-policy': policy = '', ...headers } = answer.headers
  return {
    ...answer,
    headers: { ...headers, 'content-security-policy': policy.replaceAll(/style-src 'sha256-[^']*'/g, 'style-src') },
    body: answer.body
      .replaceAll(/<style>[^]*?<\/style>/g, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ ?([<>]) ?/g, '$1'),
  }
}

function isPage({ headers }: Answer): boolean {
  return (headers['content-type'] ?? '').startsWith('text/html')
}
