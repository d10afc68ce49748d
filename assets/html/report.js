"use strict";
// Copies what is shown, and hides rows without a text. The page is complete without it.
const filter = document.getElementById("filter");
for (const part of document.querySelectorAll(".copy, .copy-all, #filter")) part.hidden = false;

function copyShown(text) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

function shownBy(button) {
  if (button.matches(".copy")) return button.previousElementSibling.textContent;
  const table = button.closest("section").querySelector(".indicators");
  return Array.from(table.querySelectorAll(".indicator"), (value) => value.textContent).join("\n");
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".copy, .copy-all");
  if (!button) return;
  const label = button.textContent;
  button.textContent = copyShown(shownBy(button)) ? "Copied" : "Not copied";
  setTimeout(() => { button.textContent = label; }, 1200);
});

filter.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase();
  for (const row of document.querySelectorAll("main tbody tr, .list > li, .tree li, .cell")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    if (row.hidden || !wanted) continue;
    for (let above = row.closest("details"); above; above = above.parentElement.closest("details")) above.open = true;
  }
});
