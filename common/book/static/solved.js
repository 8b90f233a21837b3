// Marks the solved lessons in the sidebar. progress.js, which the trainer's progress is written to, sets window.solved.
for (const link of document.querySelectorAll(".sidebar-tree a.reference.internal")) {
  const lesson = (window.solved || []).find((each) => link.href.endsWith(`/${each}/index.html`));
  const here = link.getAttribute("href") === "#" && (window.solved || []).find((each) => location.pathname.endsWith(`/${each}/index.html`));
  if (lesson || here) {
    link.classList.add("solved");
    link.title = "solved";
  }
}
