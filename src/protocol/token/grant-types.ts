/** RFC 7523 §2.1. */
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** RFC 8693 §2.1. An API calls it with its own credentials, so no client can register it (decision 0040). */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** RFC 8628 §3.4. */
export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

/** What registration, discovery and the token endpoint know about a grant type. */
interface GrantTypeRules {
  /**
   * Whether clients can register and use it. A grant type that is not offered is known: it has code and tests, but it is
   * neither negotiated nor advertised, and the token endpoint rejects it. An unfinished grant is merged in this state.
   */
  readonly isOffered: boolean
  /** RFC 6749 §4.4: only a client that authenticates may use it. */
  readonly isForConfidentialClients: boolean
  /** RFC 7591 §2.1: it needs the response type `code`. */
  readonly needsCode: boolean
  /** Whether the grant type issues refresh tokens, or uses them up. A client that registers no issuer cannot use any. */
  readonly refreshTokens: 'issues' | 'uses' | 'none'
  /** Only a client that an operator created or adopted may have it. Absent: any client. */
  readonly isForOperatorClients?: true
}

/** The table of grant types. A new row does not compile until GRANTS (endpoints/token/grants/index.ts) has one too. */
const GRANT_TYPES = {
  authorization_code: { isOffered: true, isForConfidentialClients: false, needsCode: true, refreshTokens: 'issues' },
  client_credentials: { isOffered: true, isForConfidentialClients: true, needsCode: false, refreshTokens: 'none' },
  refresh_token: { isOffered: true, isForConfidentialClients: false, needsCode: false, refreshTokens: 'uses' },
  // The lists of the providers decide which clients may use it.
  [JWT_BEARER]: { isOffered: true, isForConfidentialClients: false, needsCode: false, refreshTokens: 'none' },
  [TOKEN_EXCHANGE]: { isOffered: true, isForConfidentialClients: true, needsCode: false, refreshTokens: 'none' },
  // Nothing proves which program gets the tokens: there is no redirect URI (decision 0039).
  [DEVICE_CODE]: {
    isOffered: true,
    isForConfidentialClients: false,
    needsCode: false,
    refreshTokens: 'issues',
    isForOperatorClients: true,
  },
} as const satisfies Readonly<Record<string, GrantTypeRules>>
export type GrantType = keyof typeof GRANT_TYPES
/** The grant types that clients can register. */
export type ClientGrantType = Exclude<GrantType, typeof TOKEN_EXCHANGE>

/** The grant types that a server offers. Tests of an unfinished grant type open a server that offers it too. */
export const OFFERED_GRANT_TYPES: readonly GrantType[] = (Object.keys(GRANT_TYPES) as GrantType[]).filter(
  (name) => GRANT_TYPES[name].isOffered,
)

/** Whether clients can register the grant type. */
export function isForClients(name: GrantType): name is ClientGrantType {
  return name !== TOKEN_EXCHANGE
}

/** The grant types of `offered` that a client can register at all. */
export function registrableGrantTypes(
  offered: readonly GrantType[],
  isOperatorMade: boolean,
): readonly ClientGrantType[] {
  return offered.filter((name): name is ClientGrantType => {
    const { isForOperatorClients }: GrantTypeRules = GRANT_TYPES[name]
    return isForClients(name) && (isOperatorMade || isForOperatorClients !== true)
  })
}

/**
 * RFC 7591 §2.1: returns the grant types that a client can use of those in `offered`, in their order. Values that are not
 * supported together with the rest of the request are dropped (decision 0005).
 */
export function usableGrantTypes(
  offered: readonly GrantType[],
  client: { readonly isPublic: boolean; readonly mayUseCode: boolean },
): readonly GrantType[] {
  const usable = offered.filter((name) => {
    const { isForConfidentialClients, needsCode }: GrantTypeRules = GRANT_TYPES[name]
    return !(client.isPublic && isForConfidentialClients) && (client.mayUseCode || !needsCode)
  })
  const canRefresh = usable.some((name) => GRANT_TYPES[name].refreshTokens === 'issues')
  return canRefresh ? usable : usable.filter((name) => GRANT_TYPES[name].refreshTokens !== 'uses')
}

/** Whether one of the grant types needs the response type `code`. */
export function needCode(names: readonly GrantType[]): boolean {
  return names.some((name) => GRANT_TYPES[name].needsCode)
}
