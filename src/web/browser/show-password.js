/**
 * The script of pages with a password. It is a function, so that the compiler checks it and the page has its text. It shows the buttons
 * that make the password beside them readable. A form is sent with its password hidden, so that the browser offers to keep it.
 */
export function showPasswordScript() {
  const { document } = /** @type {any} */ (globalThis)
  for (const button of document.querySelectorAll('.reveal')) {
    const field = document.getElementById(button.getAttribute('aria-controls'))
    const set = (/** @type {boolean} */ isShown) => {
      field.type = isShown ? 'text' : 'password'
      button.setAttribute('aria-pressed', isShown)
    }
    button.hidden = false
    button.addEventListener('click', () => set(field.type === 'password'))
    field.form.addEventListener('submit', () => set(false))
  }
}
