/**
 * The script of pages that ask for a passkey. It is a function, so that the compiler checks it and the page has its text. It converts by
 * hand and calls no function of a credential, because those of common password managers throw ("Illegal invocation"). Each form names
 * what it asks for in `data-passkey`; `data-forgotten` names one that its user has removed, which the browser forgets.
 *
 * Two requests at once fail, so the conditional one, which waits for a choice in the field of the address, ends when a button is pressed.
 */
export function passkeyScript() {
  const {
    document,
    navigator,
    PublicKeyCredential: Passkey,
    AbortController: Controller,
    atob,
    btoa,
  } = /** @type {any} */ (globalThis)
  if (!Passkey) return
  for (const missing of document.querySelectorAll('[data-no-passkey]')) missing.hidden = true
  const encode = (/** @type {string} */ text) => new TextEncoder().encode(text)
  const bytes = (/** @type {string} */ text) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (/** @type {string} */ one) =>
      one.charCodeAt(0),
    )
  const text = (/** @type {any} */ buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer ?? [])))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '')
  /** @type {any} */
  let waiting
  const ask = async (/** @type {any} */ form, /** @type {string | undefined} */ mediation) => {
    const { kind, challenge, rpId, name, user, credentials } = JSON.parse(form.dataset.passkey)
    const isNew = kind === 'create'
    const problem = form.querySelector('[data-problem]')
    problem.hidden = true
    waiting?.abort()
    const { signal } = (waiting = new Controller())
    const list = credentials.map((/** @type {string} */ id) => ({ type: 'public-key', id: bytes(id) }))
    const common = { challenge: encode(challenge) }
    try {
      const made = await navigator.credentials[kind]({
        signal,
        ...(mediation && { mediation }),
        publicKey: isNew
          ? {
              ...common,
              rp: { id: rpId, name },
              user: { ...user, id: encode(user.id) },
              pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
              authenticatorSelection: {
                residentKey: 'required',
                requireResidentKey: true,
                userVerification: 'required',
              },
              attestation: 'none',
              excludeCredentials: list,
            }
          : { ...common, rpId, userVerification: 'required', allowCredentials: list },
      })
      const { response } = made
      form.elements.credential.value = text(made.rawId)
      for (const field of form.querySelectorAll('[data-answer]')) field.value = text(response[field.name])
      form.submit()
    } catch (/** @type {any} */ { name: cause }) {
      if (mediation) return
      problem.hidden = cause === 'AbortError'
      void autofill()
    }
  }
  const forms = [...document.querySelectorAll('form[data-passkey]')]
  const autofill = async () => {
    const form = forms.find(({ dataset }) => 'autofill' in dataset)
    if (form && (await Passkey.isConditionalMediationAvailable?.())) void ask(form, 'conditional')
  }
  for (const form of forms) {
    form.hidden = false
    form.addEventListener('submit', (/** @type {any} */ event) => {
      event.preventDefault()
      void ask(form, undefined)
    })
  }
  for (const { dataset } of document.querySelectorAll('[data-forgotten]'))
    Passkey.signalUnknownCredential?.(JSON.parse(dataset.forgotten))?.catch(() => undefined)
  void autofill()
}
