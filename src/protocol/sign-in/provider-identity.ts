import { hash } from 'node:crypto'
import { asciiDomain, EMAIL_LIMIT, normalizeEmail, unicodeEmail, type EmailAddress } from './email-address.ts'
import type { ProviderId } from './authentication.ts'
import type { Brand } from '../../base/brand.ts'
import { parseDisplayText } from '../../base/display-text.ts'
import { DOMAIN_FORM, type ProviderSettings } from './provider.ts'

/** Names an identity in the store. */
export type IdentityKey = Brand<string, 'IdentityKey'>

/** What a provider said about a person: the claims of an ID token (OpenID Connect Core §5.1), or the same of GitHub. */
export type ProviderClaims = Readonly<Record<string, unknown>>

/** The claims about a person that a sign-in uses. If an ID token lacks one, the userinfo endpoint is asked for all of them. */
export const PERSON_CLAIMS = ['email', 'name'] as const

/** The claims about a person, and no others. `undefined`: the provider did not say it. */
export type PersonClaims = Readonly<Record<(typeof PERSON_CLAIMS)[number], unknown>>

/** A person as a provider knows one, with each claim as it is kept. */
export interface ProviderIdentity extends Readonly<Record<keyof PersonClaims, string | undefined>> {
  /** Unique at the provider, and never given to another person. */
  readonly subject: string
  /** undefined: the provider gave none that can be one of an account. */
  readonly email: EmailAddress | undefined
  /**
   * Whether the provider's word proves that the address is the person's. Everything that depends on an address asks for this: which
   * account it finds, the address of a new account, whether it is verified, and membership of an organization.
   */
  readonly isEmailTrusted: boolean
  /** Whether the address is proved and of a domain of the provider. */
  readonly isWithinDomains: boolean
}

/** Bytes. OpenID Connect Core §2 allows 255 characters of ASCII. */
const SUBJECT_LIMIT = 255
/** The part before the @ has no quotes and no other @, so that every reader finds the same domain (threats.md UP-08). */
const ADDRESS = /^[^\s@"\\,;:<>()[\]\p{C}]+@([^@]+)$/u
/** Google proves addresses of its own domain, and of the domain in `hd`. */
const GOOGLE_MAIL = 'gmail.com'

/**
 * The key of an identity. It is not keyed by a secret: it must stay the same if the root secret is replaced. The issuer is part of
 * it, so that the identities of a provider that was deleted never become those of another provider with its id.
 */
export function identityKey(
  { id, issuer }: { readonly id: ProviderId; readonly issuer: string },
  subject: string,
): IdentityKey {
  return hash('sha256', JSON.stringify([id, issuer, subject]), 'base64url') as IdentityKey
}

/**
 * Reads what a provider said about a person. Returns undefined without a usable subject.
 *
 * An address is trusted (threats.md UP-01, UP-02, UP-09):
 *
 * - `none`: never.
 * - `claim`: if `email_verified` is the boolean true. With a domain claim, that claim must also name the domain of the address, or
 *   the address must be of Google Mail: a personal account may have the address of a company.
 * - `domains`: also without `email_verified`, if its domain is one of the provider. This is for providers of one organization, such as
 *   one tenant of Entra. `xms_edov` must not be false there.
 *
 * An address of a domain that belongs to another provider is never trusted: only that one knows its persons (UP-23).
 */
export function evaluateIdentity(
  settings: ProviderSettings,
  claims: ProviderClaims,
  isOfAnother: (domain: string) => boolean,
): ProviderIdentity | undefined {
  const subject = readSubject(settings, claims)
  if (subject === undefined) return undefined
  const person = Object.fromEntries(PERSON_CLAIMS.map((claim) => [claim, claims[claim]])) as PersonClaims
  const address = readAddress(person.email)
  const name = typeof person.name === 'string' ? parseDisplayText(person.name) : undefined
  if (address === undefined) {
    return { subject, email: undefined, isEmailTrusted: false, isWithinDomains: false, name }
  }
  const isOfProvider = settings.domains.includes(address.domain)
  const isEmailTrusted = !isOfAnother(address.domain) && isTrusted(settings, claims, address.domain, isOfProvider)
  return { subject, email: address.email, isEmailTrusted, isWithinDomains: isEmailTrusted && isOfProvider, name }
}

/**
 * The claims of an ID token and of userinfo about one person. Whether an address is verified is said of the address beside it, so both come
 * from one document. But a denial by either counts (threats.md UP-01).
 */
export function mergeClaims(idToken: ProviderClaims, userinfo: ProviderClaims): ProviderClaims {
  const both = [idToken, userinfo]
  const { email, email_verified: said } = idToken['email'] === undefined ? userinfo : idToken
  const isUnverified = both.some((one) => ![undefined, true].includes(one['email_verified'] as boolean | undefined))
  const isOfNoOwner = both.some((one) => isDenied(one['xms_edov']))
  return {
    ...userinfo,
    ...idToken,
    email,
    email_verified: isUnverified ? false : said,
    ...(isOfNoOwner ? { xms_edov: false } : {}),
  }
}

function readSubject({ subjectClaim }: ProviderSettings, { sub, tid, oid }: ProviderClaims): string | undefined {
  const parts = subjectClaim === 'sub' ? [sub] : [tid, oid]
  // A store or a hash reads texts with NUL or half a surrogate pair as others than they are.
  if (!parts.every((part) => typeof part === 'string' && /^\P{C}+$/u.test(part))) return undefined
  const subject = parts.join('/')
  return Buffer.byteLength(subject) <= SUBJECT_LIMIT ? subject : undefined
}

/** An address whose normal form is another one could be that of another person, so it is not accepted, except for a domain in Unicode. */
function readAddress(claim: unknown): { readonly email: EmailAddress; readonly domain: string } | undefined {
  if (typeof claim !== 'string' || claim.length > EMAIL_LIMIT || claim.normalize('NFKC') !== claim) return undefined
  const email = normalizeEmail(claim)
  const domain = ADDRESS.exec(email)?.[1]
  if (domain === undefined || !DOMAIN_FORM.test(domain)) return undefined
  // The lower case of the Kelvin sign is a k, as its normal form's is.
  const typed = claim.toLowerCase()
  return typed === email || typed === unicodeEmail(email) ? { email, domain } : undefined
}

function isTrusted(
  { emailTrust, domainClaim }: ProviderSettings,
  claims: ProviderClaims,
  domain: string,
  isOfProvider: boolean,
): boolean {
  if (emailTrust === 'none' || isDenied(claims['xms_edov'])) return false
  const isOfOrganization =
    domainClaim === undefined ||
    isDomain(claims[domainClaim], domain) ||
    (domainClaim === 'hd' && domain === GOOGLE_MAIL)
  if (!isOfOrganization) return false
  if (claims['email_verified'] === true) return true
  return emailTrust === 'domains' && isOfProvider && claims['email_verified'] === undefined
}

/** A provider may name the domain in Unicode. */
function isDomain(claim: unknown, domain: string): boolean {
  return typeof claim === 'string' && asciiDomain(claim) === domain
}

/** Entra sends the claim as a boolean, a number or a text. */
function isDenied(claim: unknown): boolean {
  return claim === false || claim === 0 || claim === '0' || claim === 'false'
}
