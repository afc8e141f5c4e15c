package browser

// faults finds barriers for readers with low vision or without a mouse: low contrast, fields and buttons without a
// name, duplicate ids, a missing or second first-level heading, targets that are too small, frames that cannot be
// scrolled by keyboard, pictures without text, and a page wider than its window.
const faults = `(() => {
	const found = [];
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
	const over = (a, b) => [0, 1, 2].map(k => a[k] * a[3] + b[k] * (1 - a[3])).concat(1);
	const ground = e => { let c = [0, 0, 0, 0]; for (; e; e = e.parentElement) { const b = parse(getComputedStyle(e).backgroundColor); if (b[3] > 0) c = c[3] === 0 ? b : over(c, b); if (c[3] === 1) return c; } return over(c, matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1]); };
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const seen = e => e.checkVisibility() && e.getBoundingClientRect().width > 1;
	const names = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (e.id && names.size === names.add(e.id).size) found.push("the id " + e.id + " is there twice");
		if (!seen(e)) continue;
		const text = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
		if (text) {
			const style = getComputedStyle(e), svg = e.namespaceURI.endsWith("svg"), c = contrast(over(parse(svg ? style.fill : style.color), ground(e)), ground(e));
			if (c < 4.5) found.push("contrast " + c.toFixed(2) + ": " + e.tagName + "." + e.getAttribute("class") + " " + e.textContent.trim().slice(0, 40));
		}
		const named = e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && [...e.labels].some(l => l.textContent.trim()));
		if (/^(BUTTON|INPUT|SELECT|A|CANVAS)$/.test(e.tagName) && !named) found.push(e.tagName + " " + e.id + " has no name");
		if (e.tagName === "IMG" && !e.hasAttribute("alt")) found.push("a picture has no words");
		if (e.tagName === "svg" && !e.getAttribute("aria-label")) found.push("a drawing has no words");
		if (/^(BUTTON|INPUT|SELECT)$/.test(e.tagName)) { const b = e.getBoundingClientRect(); if (b.width < 24 || b.height < 24) found.push(e.tagName + " " + e.id + " is small"); }
		if (e.tagName === "TABLE" && !e.querySelector("th[scope]")) found.push("a table has no heads");
	}
	if (document.querySelectorAll("h1").length !== 1) found.push(document.querySelectorAll("h1").length + " first headings");
	if (!document.documentElement.lang || !document.title || !document.querySelector("main") || !document.querySelector("header")) found.push("no language, title, main or header");
	if (document.documentElement.scrollWidth > innerWidth) found.push(document.documentElement.scrollWidth - innerWidth + " pixels too wide");
	for (const e of document.querySelectorAll("pre, div, section")) if (seen(e) && e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX) && e.tabIndex < 0) found.push("the arrow keys do not move " + e.tagName + " " + e.textContent.trim().slice(0, 40));
	for (const a of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) for (const n of ["aria-describedby", "aria-labelledby"]) if (a.hasAttribute(n) && !document.getElementById(a.getAttribute(n))) found.push(n + " leads nowhere");
	return found;
})()`

// Fair fails the test for each fault of the page (see Faults).
func (p *Tab) Fair() {
	p.Helper()
	for _, fault := range Faults(p) {
		p.Error(fault)
	}
}

// Faults returns the barriers of a page for readers with low vision or without a mouse, one sentence for each.
func Faults(p *Tab) []string {
	p.Helper()
	return Ask[[]string](p, faults)
}
