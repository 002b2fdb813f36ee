/**
 * The script of pages with codes to copy. It is a function, so that the compiler checks it and the page has its text. It shows the buttons,
 * each of which copies the codes in the element that it names, a line each, and then says so.
 */
export function copyScript() {
  const { document, navigator } = /** @type {any} */ (globalThis)
  if (!navigator.clipboard) return
  for (const button of document.querySelectorAll('[data-copy]')) {
    const { copy, done } = button.dataset
    button.parentElement.hidden = false
    button.addEventListener('click', () => {
      const codes = [...document.querySelectorAll(`#${copy} code`)]
      const text = codes.map(({ textContent }) => textContent.replaceAll(' ', '')).join('\n')
      const say = () => (button.firstElementChild.textContent = done)
      navigator.clipboard.writeText(text).then(say, () => undefined)
    })
  }
}
