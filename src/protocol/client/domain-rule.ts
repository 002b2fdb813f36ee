import { MAXIMA } from '../../base/maxima.ts'

/** `trusted`: clients of the domain are known to the operator. `blocked`: the server accepts no client of the domain. */
export type DomainVerdict = 'trusted' | 'blocked'

/** What an operator decided about a host, or about one client metadata document. */
export interface DomainRule {
  /** A host such as `app.example`, `*.app.example` for all hosts below one, or the whole URL of a document; see `parseDomainPattern`. */
  readonly pattern: string
  readonly verdict: DomainVerdict
}

/** The rules of the server. If several match, `blocked` wins over `trusted`. */
export interface DomainRules {
  /** Whether there are none, so that no URI needs to be parsed for them. */
  readonly isEmpty: boolean
  /** The verdict about a host name in its ASCII form, without a port; undefined: no rule matches. */
  readonly ofHost: (host: string) => DomainVerdict | undefined
  /** The verdict about a client metadata document: that of its URL or of its host. */
  readonly ofDocument: (url: string) => DomainVerdict | undefined
}

/** The shape of a pattern: a host, hosts below a host or top-level domain, an IPv6 address, or a URL. `parseDomainPattern` refuses more. */
export const DOMAIN_PATTERN_FORM =
  /^(?:(?:\*\.)?(?:[A-Za-z0-9_-]+\.)+[A-Za-z0-9_-]+|\*\.[A-Za-z0-9_-]+|\[[0-9A-Fa-f:.]+\]|https:\/\/[\x21-\x7e]+)$/
/** The most rules of a server, because each node has a copy of them. */
export const DOMAIN_RULE_LIMIT = MAXIMA.domainRules.most
/** Characters. A host name has at most 253, and the id of a client with a metadata document at most 512. */
export const DOMAIN_PATTERN_LIMIT = MAXIMA.domainPattern.most

/** The hosts of widespread clients, for `grantor domain trust --known`. None of them is trusted by default. */
export const KNOWN_DOMAINS = ['claude.ai', 'vscode.dev', 'insiders.vscode.dev', 'zed.dev', 'chatgpt.com'] as const

/** Makes the rules ready for look-ups. Finding a host takes one look-up for each of its labels, however many rules there are. */
export function openDomainRules(rules: readonly DomainRule[]): DomainRules {
  const byPattern = new Map(rules.map(({ pattern, verdict }) => [pattern, verdict]))
  const strictest = (patterns: readonly string[]): DomainVerdict | undefined => {
    const found = patterns.map((pattern) => byPattern.get(pattern))
    return found.find((verdict) => verdict === 'blocked') ?? found.find((verdict) => verdict !== undefined)
  }
  return {
    isEmpty: rules.length === 0,
    ofHost: (host) => strictest(patternsOf(host)),
    ofDocument: (url) => strictest([url, ...patternsOf(new URL(url).hostname)]),
  }
}

/** `a.b.example` matches `a.b.example`, `*.b.example` and `*.example`. */
function patternsOf(host: string): readonly string[] {
  const labels = host.split('.')
  return [host, ...labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`)]
}

/** The result of reading a pattern. */
export type DomainPattern =
  /** In the form in which rules are stored: hosts in lower case and in their ASCII form. */
  | { readonly kind: 'pattern'; readonly pattern: string }
  /** The reason completes a sentence that begins with the pattern. */
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Reads the pattern of a rule. A public suffix, below which anyone can have a host, cannot be trusted; it can be blocked. Only
 * widespread suffixes are known here. For any other `*.host`, the operator must know who assigns the names below the host.
 */
export function parseDomainPattern(text: string, verdict: DomainVerdict): DomainPattern {
  if (text.startsWith('https://')) return readDocument(text)
  const isBelow = text.startsWith('*.')
  const host = DOMAIN_PATTERN_FORM.test(text) ? hostOf(isBelow ? text.slice('*.'.length) : text) : undefined
  if (host === undefined) {
    return refused('is neither a host such as app.example, nor *.app.example, nor the https URL of a document')
  }
  if (isBelow && ADDRESS.test(host)) return refused('has an address instead of a name after "*."')
  if (verdict === 'trusted' && isPublicSuffix(host)) {
    return refused('is a public suffix, below which anyone can have a host. Name the whole host')
  }
  return { kind: 'pattern', pattern: isBelow ? `*.${host}` : host }
}

/** An IPv4 or IPv6 address, as the URL parser writes them. */
const ADDRESS = /^(\[.*\]|[0-9.]+)$/

/** The host as the URL parser writes it; undefined if no URL can have it. */
function hostOf(text: string): string | undefined {
  return URL.parse(`https://${text}/`)?.hostname
}

function readDocument(text: string): DomainPattern {
  const url = URL.parse(text)
  const isDocument =
    url?.protocol === 'https:' && url.href === text && url.pathname !== '/' && url.hash === '' && url.username === ''
  return isDocument && text.length <= DOMAIN_PATTERN_LIMIT
    ? { kind: 'pattern', pattern: text }
    : refused('is not the URL of a client metadata document: it must have a path, no fragment, and its canonical form')
}

/** Suffixes of more than one label below which many people have hosts. A top-level domain is one anyway. */
const COMMON_SUFFIXES: ReadonlySet<string> = new Set(
  `ac.uk co.uk gov.uk org.uk com.au net.au org.au co.jp ne.jp co.kr co.nz co.za co.in com.br com.cn com.mx com.tr com.tw
   amplifyapp.com appspot.com azurewebsites.net blogspot.com cloudfront.net firebaseapp.com fly.dev github.io gitlab.io
   herokuapp.com netlify.app ngrok.app ngrok.io ngrok-free.app onrender.com pages.dev run.app s3.amazonaws.com
   trycloudflare.com vercel.app web.app workers.dev`.split(/\s+/),
)

function isPublicSuffix(host: string): boolean {
  return COMMON_SUFFIXES.has(host) || !(host.includes('.') || ADDRESS.test(host))
}

function refused(reason: string): DomainPattern {
  return { kind: 'refused', reason }
}
