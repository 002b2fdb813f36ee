import type { Account, FillPage, Filled, Form } from './browser.ts'

/** What the metadata of an issuer does not say. */
export interface Driver {
  readonly fill: FillPage
  /**
   * Whether an earlier refresh token, presented from the network of the newest one, gets the newest one, as the manual of the issuer announces. Theft
   * then shows only from another network.
   */
  readonly knowsCopiesByNetwork: boolean
}

export const DRIVERS: Readonly<Record<string, Driver>> = {
  generic: { fill: (forms, account) => signIn(forms, account) ?? pressFirst(forms), knowsCopiesByNetwork: false },
  grantor: { fill: (forms, account) => signIn(forms, account) ?? allow(forms), knowsCopiesByNetwork: true },
}

/** The form with a password, or the one that asks for the address first. */
function signIn(forms: readonly Form[], { name, password }: Account): Filled | undefined {
  const form =
    forms.find(({ typed }) => typed.some(({ type }) => type === 'password')) ??
    forms.find(({ typed }) => typed.length === 1)
  if (form === undefined) return undefined
  const user = form.typed.find(({ type }) => type !== 'password')
  const secret = form.typed.find(({ type }) => type === 'password')
  const fields = {
    ...(user === undefined ? {} : { [user.name]: name }),
    ...(secret === undefined ? {} : { [secret.name]: password }),
  }
  return { form, fields }
}

/** The first button of the first form: that of most consent pages. */
function pressFirst(forms: readonly Form[]): Filled | undefined {
  const form = forms.find(({ buttons }) => buttons.length > 0)
  const button = form?.buttons[0]
  if (form === undefined || button === undefined) return undefined
  return { form, fields: button.name === '' ? {} : { [button.name]: button.value } }
}

/** The consent page of Grantor, whose first button denies. */
function allow(forms: readonly Form[]): Filled | undefined {
  const form = forms.find(({ buttons }) => buttons.some(({ name }) => name === 'decision'))
  return form && { form, fields: { decision: 'allow' } }
}
