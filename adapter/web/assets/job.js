// The server renders a job's page. While the page is visible, this script loads it again and replaces what changed.

const EVERY = 5000;
const live = document.getElementById("live");

function again() {
  if (document.hidden || String(getSelection()) !== "") return;
  const ask = new XMLHttpRequest();
  ask.responseType = "document";
  ask.timeout = 10000;
  ask.onload = () => {
    const fresh = ask.response && ask.response.getElementById("main");
    if (!fresh) return lost();
    say("live", "good");
    for (const selector of ["#main", "h1", ".sub"]) {
      const old = document.querySelector(selector), now = ask.response.querySelector(selector);
      if (old && now && old.innerHTML !== now.innerHTML) old.replaceChildren(...document.importNode(now, true).childNodes);
    }
  };
  ask.onerror = ask.ontimeout = lost;
  ask.open("GET", location.href);
  ask.send();
}

function lost() { say("The connection is lost; it is tried again.", "bad"); }

function say(text, how) {
  live.className = "live " + how;
  if (live.textContent !== text) live.textContent = text;
}

say("live", "good");
setInterval(again, EVERY);
