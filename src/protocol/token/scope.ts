import type { Brand } from '../../base/brand.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** Unique scope tokens in the order of the request, separated by one space. '' is the empty scope. RFC 6749 §3.3. */
export type Scope = Brand<string, 'Scope'>

export const NO_SCOPE = '' as Scope

/** Printable ASCII without spaces, quotes and backslashes. */
const CHARACTER = '[\\x21\\x23-\\x5b\\x5d-\\x7e]'
const TOKEN = new RegExp(`^${CHARACTER}+$`)
const TOKEN_LIMIT = MAXIMA.scopesOfRequest.most
/** The name of a scope that may be declared. RFC 6749 §3.3. A longer one may be asked for, as any other that no API declares. */
export const SCOPE_TOKEN_FORM = new RegExp(`^${CHARACTER}{1,${MAXIMA.scopeName.most}}$`)
/** What `parseScope` reads; the empty text is a scope too. OpenAPI documents both forms. */
export const SCOPE_FORM = new RegExp(`^ *(?:${CHARACTER}+(?: +|$)){0,${TOKEN_LIMIT}}$`)

/** Returns undefined for a text that is not a scope of RFC 6749 §3.3 or has more tokens than the limit. */
export function parseScope(text: string): Scope | undefined {
  const tokens = text.split(' ').filter((token) => token !== '')
  if (tokens.length > TOKEN_LIMIT || tokens.some((token) => !TOKEN.test(token))) return undefined
  // Takes a third of the time of a Set, because most scopes have few tokens.
  if (tokens.length > FEW) return scopeOf(tokens)
  return tokens.filter((token, index) => tokens.indexOf(token) === index).join(' ') as Scope
}

const FEW = 20

/** The scope of tokens that are known to be well-formed. */
export function scopeOf(tokens: Iterable<string>): Scope {
  return [...new Set(tokens)].join(' ') as Scope
}

/** The scopes of OpenID Connect Core §5.4 and §11, and `groups`. They request data about the user, not access to an API. */
export const IDENTITY_SCOPES = ['openid', 'profile', 'email', 'address', 'phone', 'groups', 'offline_access'] as const
export type IdentityScope = (typeof IDENTITY_SCOPES)[number]
const IDENTITY: ReadonlySet<string> = new Set(IDENTITY_SCOPES)

export function isIdentityScope(token: string): token is IdentityScope {
  return IDENTITY.has(token)
}

/** Whether the scope asks who the user is. OpenID Connect Core 1.0 §3.1.2.1. */
export function isOpenid(scope: Scope): boolean {
  return scopeTokens(scope).includes('openid')
}

export function scopeTokens(scope: Scope): readonly string[] {
  return scope === '' ? [] : scope.split(' ')
}

/** The characters of texts, each with the space or the sign that separates it from the next one. */
export function lengthOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length + 1, 0)
}

/** Whether every token of `part` is in `whole`. */
export function isWithin(part: Scope, whole: Scope): boolean {
  if (part === whole || part === '') return true
  const allowed = new Set(scopeTokens(whole))
  return scopeTokens(part).every((token) => allowed.has(token))
}

/** The tokens of either scope. */
export function unite(left: Scope, right: Scope): Scope {
  return scopeOf([...scopeTokens(left), ...scopeTokens(right)])
}

/** The tokens of `scope` that are in `whole`. */
export function intersect(scope: Scope, whole: Scope): Scope {
  const allowed = new Set(scopeTokens(whole))
  return narrow(scope, (token) => allowed.has(token))
}

/** The tokens of `scope` that are not in `part`. */
export function subtract(scope: Scope, part: Scope): Scope {
  const without = new Set(scopeTokens(part))
  return narrow(scope, (token) => !without.has(token))
}

/** The tokens of `scope` for which `passes` returns true. */
export function narrow(scope: Scope, passes: (token: string) => boolean): Scope {
  const tokens = scopeTokens(scope)
  return tokens.every(passes) ? scope : scopeOf(tokens.filter(passes))
}
