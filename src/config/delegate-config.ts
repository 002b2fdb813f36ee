import type { DelegateSettings } from '../ports/context.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'
import type { SettingValues } from './schema.ts'

/** The settings of delegated sign-in; undefined: this server signs users in. */
export function delegateOf({
  GRANTOR_DELEGATE_URL: url,
  GRANTOR_DELEGATE_SIGN_OUT_URL: signOutUrl,
  GRANTOR_DELEGATE: mode,
}: SettingValues): DelegateSettings | undefined {
  return url === undefined ? undefined : { url, signOutUrl, mode }
}

/** The mistakes in the settings of delegated sign-in. */
export function delegateMistakes(settings: SettingValues): readonly string[] {
  const {
    GRANTOR_DELEGATE_URL: url,
    GRANTOR_DELEGATE_SIGN_OUT_URL: signOutUrl,
    GRANTOR_PASSWORDS: passwords,
    GRANTOR_SECOND_FACTOR: secondFactor,
  } = settings
  const mistakes = [
    ...addressMistakes('GRANTOR_DELEGATE_URL', url),
    ...addressMistakes('GRANTOR_DELEGATE_SIGN_OUT_URL', signOutUrl),
  ]
  if (url !== undefined && passwords === 'on') {
    mistakes.push('GRANTOR_PASSWORDS must not be on with GRANTOR_DELEGATE_URL: the application signs all users in')
  }
  if (url !== undefined && secondFactor === 'required') {
    mistakes.push(
      'GRANTOR_SECOND_FACTOR must not be required where your application signs users in: it asks for the factors',
    )
  }
  if (url === undefined && signOutUrl !== undefined && mistakes.length === 0) {
    mistakes.push('GRANTOR_DELEGATE_SIGN_OUT_URL needs GRANTOR_DELEGATE_URL')
  }
  return mistakes
}

/** The browser carries the interaction there, so the address is https, or of this machine. */
function addressMistakes(name: string, address: string | undefined): readonly string[] {
  if (address === undefined || !URL.canParse(address)) return []
  const { protocol, hostname, username, password, hash } = new URL(address)
  if (username !== '' || password !== '' || hash !== '') return [`${name} must have no user, password or fragment`]
  if (protocol === 'https:' || isLoopbackHost(hostname)) return []
  return [`${name} must use https; http is allowed for localhost, 127.0.0.1 and [::1]`]
}
