// Asks the browser for a passkey where a form needs one, and sends the form with what it signed.
for (const place of document.querySelectorAll('[data-passkey]')) {
  const { passkey: kind, options, when } = place.dataset;
  const answer = place.querySelector('input');
  const failed = place.querySelector('[data-failed]');
  const form = place.closest('form');

  form.addEventListener('submit', async (event) => {
    const { submitter } = event;
    const chosen = submitter?.name === 'choice' ? submitter.value : form.elements.choice?.value;
    if (answer.value !== '' || (when && when !== chosen)) return;
    event.preventDefault();
    failed.hidden = true;
    try {
      const fields = new URLSearchParams({ csrf: form.elements.csrf.value, seen: form.elements.seen?.value ?? '' });
      const asked = await fetch(options, { method: 'POST', body: fields });
      if (!asked.ok) throw new Error(`${asked.status}`);
      const { startAuthentication, startRegistration } = window.SimpleWebAuthnBrowser;
      const ask = kind === 'register' ? startRegistration : startAuthentication;
      answer.value = JSON.stringify(await ask({ optionsJSON: await asked.json() }));
      form.requestSubmit(submitter);
    } catch {
      // Given up, timed out, or no such passkey: the person reads that, and may press again.
      failed.hidden = false;
    }
  });
}
