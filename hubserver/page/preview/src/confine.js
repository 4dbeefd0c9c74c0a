// What the frame's policy does not stop in every browser: Chromium 156 lets a page with
// "webrtc 'block'" send STUN packets, and follows rel=preconnect. So the constructors are
// removed before the app runs, and so are frames within, which would have new ones, before
// they load: a mutation is seen at the end of the script that makes it.

const unwanted = 'iframe, frame, frameset, object, embed, fencedframe, portal, link[rel~="preconnect" i], link[rel~="dns-prefetch" i], meta[http-equiv="refresh" i]'

/** confine removes what reaches beyond the frame. */
export function confine() {
  for (const name of Object.getOwnPropertyNames(window)) {
    if (/^(webkit|moz)?RTC|^WebTransport|^PresentationRequest/.test(name)) delete window[name]
  }
  watch(document)
  const { attachShadow } = Element.prototype
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options)
    watch(root)
    return root
  }
  // A declarative shadow root would not be seen.
  for (const type of [Element, ShadowRoot, Document]) {
    for (const at of [type, type.prototype]) {
      for (const name of Object.getOwnPropertyNames(at)) if (/HTMLUnsafe$/.test(name)) delete at[name]
    }
  }
  const write = (...texts) => document.body?.insertAdjacentHTML('beforeend', texts.join(''))
  Object.assign(Document.prototype, { write, writeln: write, open: () => document, close: () => {} })
}

function watch(root) {
  const remove = () => {
    for (const e of root.querySelectorAll(unwanted)) e.remove()
  }
  new MutationObserver(remove).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ['rel', 'http-equiv', 'srcdoc', 'src', 'data'] })
}
